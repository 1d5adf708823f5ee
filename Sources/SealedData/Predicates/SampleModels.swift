import Foundation
import ObjectGraph

/// A value of a property of a sample model, from which a key path is read.
enum SampleValue {
    case attribute(Value)
    case composite(any CompositeValue)
    /// Returns the given number of new models.
    case models(Int)
}

extension PersistentModel {
    /// Returns an object in no context whose properties, including constants, have values, or none if no value is
    /// known; nil if no value of a constant is known.
    ///
    /// - Parameter values: The values of some slots.
    static func sample(with values: [Int: SampleValue]) -> Self? {
        let lookup = PropertyLookup.properties(of: Self.self)
        let haveValues = lookup.names.indices.allSatisfy { slot in
            !lookup.isConstant(slot) || values[slot] != nil || SampleValue.exists(of: lookup.valueType(at: slot))
                || hasSubstitute(forConstant: slot, lookup)
        }
        guard haveValues else { return nil }
        var related: [Int: Int] = [:]
        let object = sample(slotCount: _$slotCount) { state in
            for slot in lookup.names.indices {
                switch values[slot] ?? SampleValue.all(of: lookup.valueType(at: slot), structures: 1).first {
                case .attribute(let value)?: state.initialize(slot, attribute: value)
                case .composite(let value)?: state.initialize(slot, composite: value)
                case .models(let count)?: if !lookup.isConstant(slot) { related[slot] = count }
                case nil: state.initialize(slot, attribute: .null)
                }
            }
        }
        for (slot, count) in related {
            switch PropertyKind(of: lookup.valueType(at: slot)) {
            case .toOne(let model)?:
                if count == 0 || model.canBeBlank() {
                    object.setDestination(count == 0 ? nil : model.blank(), at: slot)
                }
            case .toMany(let model)?:
                let count = model.canBeBlank() ? count : 0
                object.setMembers((0..<count).map { _ in model.blank() as any GraphObject }, at: slot)
            case .attribute?, nil: break
            }
        }
        return object
    }

    /// Whether each persisted property of a sample can be read.
    static var hasReadableSamples: Bool {
        let lookup = PropertyLookup.properties(of: Self.self)
        return lookup.names.indices.allSatisfy { slot in
            if lookup.isConstant(slot) { return true }
            let valueType = lookup.valueType(at: slot)
            return switch PropertyKind(of: valueType) {
            case .toOne(let model)?: PropertyKind.isOptional(valueType) || model.canBeBlank()
            case .toMany?: true
            case .attribute?, nil:
                SampleValue.exists(of: valueType) || SubstituteValue.exists(valueType, for: Self.self, at: slot)
            }
        }
    }

    /// Returns whether an object without values can be made: its constants have substitutes.
    ///
    /// - Parameter classes: The classes whose constants lead to this class.
    private static func canBeBlank(_ classes: Set<ObjectIdentifier> = []) -> Bool {
        let lookup = PropertyLookup.properties(of: Self.self)
        return lookup.names.indices.allSatisfy { slot in
            !lookup.isConstant(slot) || hasSubstitute(forConstant: slot, lookup, classes)
        }
    }

    private static func hasSubstitute(
        forConstant slot: Int,
        _ lookup: PropertyLookup,
        _ classes: Set<ObjectIdentifier> = []
    ) -> Bool {
        let valueType = lookup.valueType(at: slot)
        guard case .toOne(let model)? = PropertyKind(of: valueType), !PropertyKind.isOptional(valueType) else {
            return SubstituteValue.exists(valueType, for: nil, at: slot)
        }
        // Substitutes that lead back to a class would need each other without end.
        let classes = classes.union([ObjectIdentifier(self)])
        return !classes.contains(ObjectIdentifier(model)) && model.canBeBlank(classes)
    }
}

extension SampleValue {
    /// Returns possible values of a property: ordinary values first, then special cases of computed properties, such as
    /// the empty text and nil.
    ///
    /// - Parameters:
    ///   - valueType: The type of the property.
    ///   - structures: The number of generated values of a type that is stored as JSON text.
    static func all(of valueType: any Any.Type, structures: Int = 8) -> [SampleValue] {
        let type = PropertyKind.unwrapped(valueType)
        let none: [SampleValue] = PropertyKind.isOptional(valueType) ? [.attribute(.null)] : []
        switch PropertyKind(of: valueType) {
        case .toOne: return PropertyKind.isOptional(valueType) ? [.models(1), .models(0)] : [.models(1), .models(1)]
        case .toMany: return [.models(1), .models(2), .models(0)]
        case .attribute(.composite):
            func made<T: Decodable & Encodable>(_ type: T.Type) -> [SampleValue] {
                (0..<structures).compactMap { seed in
                    (try? ProbeValues(seed: seed).value(type, at: [])).map { .composite(CompositeAttribute($0)) }
                }
            }
            return ((type as? any (Decodable & Encodable).Type).map { made($0) } ?? []) + none
        case .attribute(let attributeType):
            func cases<Raw: RawRepresentable>(_ type: Raw.Type) -> [Value] {
                type.samples.values.compactMap { queryLiteral(of: $0) }
            }
            let values =
                type is any StorableValue.Type
                ? literals(of: attributeType) : (type as? any RawRepresentable.Type).map { cases($0) } ?? []
            return values.map(SampleValue.attribute) + none
        case nil: return none
        }
    }

    /// Returns whether there are values of an attribute's type.
    static func exists(of valueType: any Any.Type) -> Bool {
        all(of: valueType, structures: 1).contains { value in
            if case .models = value { false } else { true }
        }
    }

    private static func literals(of type: AttributeType) -> [Value] {
        switch type.form {
        case .boolean: integers([1, 0])
        case .integer(let range) where range.lowerBound == 0: integers([7, 100, 0, 1, range.upperBound])
        case .integer(let range): integers([7, -3, 100, 0, 1, range.lowerBound, range.upperBound])
        case .unsigned: integers([7, 100, 0, 1, .max] as [UInt64])
        case .float, .double, .date: [7.25, -3.5, 1, 0, 1_048_576.5].map(Value.real)
        case .decimal: ([7.25, -3.5, 1, 0, 1_048_576.5] as [Decimal]).map(\.storedValue)
        case .text:
            [" Ab c\u{e9}7\n", "xyz", "XYZ", "", " ", "-3", String(repeating: "long ", count: 200)].map(Value.text)
        case .url: ["https://example.org/Ab?c=1#d", "relative/path", "file:///x/"].map(Value.text)
        case .uuid: [UUID(), UUID()].map(\.storedValue)
        case .bytes: [Data([7, 0, 255]), Data([1]), Data()].map(Value.blob)
        case .json: []
        }
    }

    private static func integers(_ values: [some FixedWidthInteger]) -> [Value] {
        values.map { .integer(Int64(truncatingIfNeeded: $0)) }
    }
}
