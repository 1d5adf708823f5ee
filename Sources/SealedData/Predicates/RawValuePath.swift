import ObjectGraph

/// A key path through a property of a type with raw values to a computed property of that type.
///
/// Computed properties have no names at run time, and the key path of `rawValue` of an enumeration does not equal the
/// key path of the protocol's requirement. The path is identified by its values: for each case of the property it must
/// read the raw value of that case.
struct RawValuePath {
    let keyPath: SampledKeyPath
    /// The type of the last property, unwrapped.
    let propertyType: any Any.Type
    /// Whether the value with a raw value is a member of the last property's value, which is a structure.
    let isMember: Bool

    /// Returns whether the key path reads the raw value of all known cases.
    func leadsToRawValue<Raw: RawRepresentable>(of type: Raw.Type, from model: any PersistentModel.Type) -> Bool {
        let cases = type.samples.values
        return !cases.isEmpty
            && cases.allSatisfy { element in
                guard let rawValue = queryLiteral(of: element.rawValue), let value = propertyValue(holding: element),
                    let read = keyPath.value(holding: value, from: model)
                else {
                    return false
                }
                return sortedLiteral(of: read) == rawValue
            }
    }

    /// Returns the value of the property for which the value at the end is `element`.
    private func propertyValue<Raw: RawRepresentable>(holding element: Raw) -> SampleValue? {
        guard isMember else { return queryLiteral(of: element.rawValue).map(SampleValue.attribute) }
        func structure<Whole: Decodable & Encodable>(_ type: Whole.Type) -> SampleValue? {
            (try? ProbeValues(holding: element).value(type, at: [])).map { .composite(CompositeAttribute($0)) }
        }
        return (propertyType as? any (Decodable & Encodable).Type).flatMap { structure($0) }
    }
}

/// Returns the stored form of a value that a key path reads, without the suffix that sort descriptors append.
func sortedLiteral(of value: Any) -> Value? {
    if let text = value as? LocalizedText { return .text(text.text) }
    return queryLiteral(of: value)
}
