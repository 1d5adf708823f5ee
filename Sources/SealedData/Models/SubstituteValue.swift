import Foundation
import ObjectGraph

/// The substitute for a missing value of a property that is not optional: the row was deleted before it was read, or
/// the stored value does not have the property's type.
///
/// Reading an object never traps because of the contents of a store, so a substitute is needed. It is never saved: a
/// save writes the values that were set, and preserves the stored text of all other values. The candidates are, in this
/// order:
///
/// 1. nil, for an optional type;
/// 2. the default value that the property declares;
/// 3. the first case of a `CaseIterable` type, the value with raw value "" or 0, the result of the type's `init(from:)`
///   for nil, empty texts and lists, zeros and `false`, or otherwise for texts of one character, lists of one element,
///   ones and `true`;
/// 4. all bits zero, for a type without references;
/// 5. a structure that is assembled from empty values of its stored properties, if its `init(from:)` rejects them; not
///    on Apple's systems, whose standard library does not expose the stored properties of a type.
///
/// A value of another object is never used: the object may belong to another store, whose values must stay separate. No
/// candidate exists for a class, or an enum with payloads, without a default value that is not `Codable`, or whose
/// `init(from:)` rejects all of these values. Reading such a property traps; a constant is read with its object.
enum SubstituteValue {
    /// Returns a value for the property in a slot of a model class.
    static func substitute<V>(for model: (any GraphObject.Type)?, at slot: Int) -> V {
        if let value: V = candidate(for: model, at: slot) { return value }
        preconditionFailure(
            "a property of type \(V.self) has no value, and no default: make it optional, or give it a default value"
        )
    }

    /// Returns whether a property has a substitute.
    static func exists(_ valueType: any Any.Type, for model: (any GraphObject.Type)?, at slot: Int) -> Bool {
        func exists<V>(_ type: V.Type) -> Bool { (candidate(for: model, at: slot) as V?) != nil }
        return exists(valueType)
    }

    private static func candidate<V>(for model: (any GraphObject.Type)?, at slot: Int) -> V? {
        if let none = Optional<Any>.none as? V { return none }
        if let model = model as? any PersistentModel.Type, let value = declaredDefault(at: slot, of: model) as? V {
            return value
        }
        return make(V.self) ?? zero(V.self) ?? ProbeValues(.empty).assembledValue(V.self, depth: 0)
    }

    /// Evaluates the declared default value of the property in a slot, as for a new object.
    private static func declaredDefault(at slot: Int, of model: any PersistentModel.Type) -> Any? {
        let properties = ModelInheritance(of: model).levels.flatMap(\.properties)
        return properties.indices.contains(slot) ? properties[slot].defaultValue : nil
    }

    /// Returns a value that the type accepts; nil if it rejects all candidates.
    static func make<V>(_ type: V.Type) -> V? {
        if let cases = type as? any CaseIterable.Type, let first = firstCase(of: cases) as? V { return first }
        if let raw = type as? any RawRepresentable.Type, let value = rawValue(of: raw) as? V { return value }
        guard let decodable = type as? any Decodable.Type else { return nil }
        for style in [ProbeDecoder.Style.empty, .one] {
            if let value = try? decodable.init(from: ProbeDecoder(style)), let value = value as? V { return value }
        }
        return nil
    }

    private static func firstCase<C: CaseIterable>(of type: C.Type) -> Any? { type.allCases.first }

    private static func rawValue<Raw: RawRepresentable>(of type: Raw.Type) -> Any? {
        (Raw.RawValue.self as? any StorableValue.Type).flatMap { $0.read(Row.nullSlot, 0) as? Raw.RawValue }
            .flatMap(Raw.init(rawValue:))
    }

    /// Returns all bits zero: the first case of an enum, and zero in every member of a structure of numbers; nil for a
    /// type with references.
    static func zero<V>(_ type: V.Type) -> V? {
        guard _isPOD(type) else { return nil }
        return withUnsafeTemporaryAllocation(of: type, capacity: 1) { buffer in
            UnsafeMutableRawBufferPointer(buffer).initializeMemory(as: UInt8.self, repeating: 0)
            return buffer[0]
        }
    }
}

extension PersistentModel {
    /// Returns a substitute for the missing value of a property, and reports it unless the object is new or has no
    /// known row.
    @usableFromInline
    func missingValue<V>(at slot: Int) -> V {
        reportUnreadableValue(at: slot, as: V.self)
        return SubstituteValue.substitute(for: Self.self, at: slot)
    }

    /// Returns a substitute for the missing destination of a required relationship: a deleted model without values.
    @usableFromInline
    func missingDestination<M: PersistentModel>(at slot: Int) -> M {
        reportMissingDestination(at: slot)
        return M._$placeholder(slotCount: M._$slotCount)
    }
}

extension Materialization {
    /// Returns a substitute for the missing value of a constant.
    func missingValue<V>(at slot: Int) -> V {
        reportUnreadableValue(at: slot, as: V.self)
        return SubstituteValue.substitute(for: objectType, at: slot)
    }
}
