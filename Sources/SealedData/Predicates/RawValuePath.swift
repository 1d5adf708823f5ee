import ObjectGraph

/// A key path through a property of a type with raw values to a computed property of that type.
///
/// Computed properties have no names at run time, and `rawValue` of an enumeration is not equal to that of the
/// protocol. The path is identified by its values: for each case of the property it must read the raw value of that
/// case.
struct RawValuePath {
    let keyPath: AnyKeyPath
    /// The slots of the properties, each in the class of the previous property's value.
    let slots: [Int]
    /// The type of the last property, unwrapped.
    let propertyType: any Any.Type
    /// The offsets of the members of the structure, each in the previous member; empty if the property itself is the
    /// value.
    let offsets: [Int]

    /// Returns whether the key path reads the raw value of all known cases.
    func leadsToRawValue<Raw: RawRepresentable>(of type: Raw.Type, from model: any PersistentModel.Type) -> Bool {
        let cases = type.samples.values
        return !cases.isEmpty
            && cases.allSatisfy { element in
                guard let rawValue = queryLiteral(of: element.rawValue), let value = propertyValue(holding: element)
                else {
                    return false
                }
                return read(with: value, from: model) == rawValue
            }
    }

    /// Returns the value of the property for which the value at the end is `element`.
    private func propertyValue<Raw: RawRepresentable>(holding element: Raw) -> SampleValue? {
        guard !offsets.isEmpty else { return queryLiteral(of: element.rawValue).map(SampleValue.attribute) }
        guard let type = propertyType as? any (Decodable & Encodable).Type else { return nil }
        return structure(type, holding: element).map(SampleValue.composite)
    }

    /// Returns a generated structure with the member `element`.
    private func structure<Whole: Decodable & Encodable, Raw: RawRepresentable>(
        _ type: Whole.Type,
        holding element: Raw
    ) -> (any CompositeValue)? {
        guard var whole = try? ProbeValues(seed: 0).value(type, at: []), let member = member(of: whole) else {
            return nil
        }
        let offset = offsets.reduce(0, +)
        let isSet = withUnsafeMutableBytes(of: &whole) { bytes in
            guard let address = bytes.baseAddress.map({ $0 + offset }) else { return false }
            if member == Raw.self {
                address.assumingMemoryBound(to: Raw.self).pointee = element
            } else if member == Raw?.self {
                address.assumingMemoryBound(to: Raw?.self).pointee = element
            } else {
                return false
            }
            return true
        }
        return isSet ? CompositeAttribute(whole) : nil
    }

    /// Returns the type of the member at the end of the offsets; nil if an optional on the path is nil.
    private func member(of whole: Any) -> (any Any.Type)? {
        var structure = whole
        var type: (any Any.Type)?
        for offset in offsets {
            func property<Structure>(of structure: Structure) -> StoredProperties.StoredProperty? {
                StoredProperties(of: Structure.self)?.property(at: offset)
            }
            // A payload has the address of its optional.
            guard let present = unwrapped(structure), let next = _openExistential(present, do: property) else {
                return nil
            }
            func open<Structure>(_ structure: Structure) -> Any { next.value(of: structure) }
            structure = _openExistential(present, do: open)
            type = next.type
        }
        return type
    }

    /// Returns the value that the key path reads from a model whose last property has a value.
    private func read(with value: SampleValue, from model: any PersistentModel.Type) -> Value? {
        func read<Model: PersistentModel>(_ model: Model.Type) -> Value? {
            guard let keyPath = keyPath as? PartialKeyPath<Model>, let last = slots.last else { return nil }
            var models: [any PersistentModel] = []
            var type: any PersistentModel.Type = model
            for slot in slots {
                models.append(type.sample(with: slot == last && models.count == slots.count - 1 ? [slot: value] : [:]))
                let property = PropertyLookup.properties(of: type).keyPath(at: slot)
                if case .toOne(let destination)? = PropertyKind(of: Swift.type(of: property).valueType) {
                    type = destination
                }
            }
            for (number, slot) in slots.dropLast().enumerated() {
                models[number].setDestination(models[number + 1], at: slot)
            }
            guard let root = models.first as? Model else { return nil }
            var literal: Value?
            _ = AccessRecorder.slots(of: root) { literal = sortedLiteral(of: root[keyPath: keyPath]) }
            return literal
        }
        return read(model)
    }
}

/// The wrapped value of an optional in an `Any`.
private func unwrapped(_ value: Any) -> Any? {
    guard PropertyKind.isOptional(type(of: value)) else { return value }
    return Mirror(reflecting: value).children.first?.value
}

/// Returns the stored form of a value that a key path reads, without the suffix that sort descriptors append.
func sortedLiteral(of value: Any) -> Value? {
    if let text = value as? LocalizedText { return .text(text.text) }
    return queryLiteral(of: value)
}
