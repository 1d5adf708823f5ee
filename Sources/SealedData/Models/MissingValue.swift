import Foundation
import ObjectGraph

/// The value of a property that is not optional where its object has none: the row was gone before it was read, or the store
/// holds something that is no value of the type.
///
/// Reading an object never ends the process for what a store holds, so some value has to be found. It is never saved: a save
/// writes what was set, and keeps the stored text of what was not. It is looked for in this order:
///
/// 1. nil, for an optional type;
/// 2. the default value that the property declares;
/// 3. the first case of a `CaseIterable` type, the value of raw value "" or 0, and what the type's `init(from:)` makes of nil,
///    empty texts and lists, zeros and `false`, else of texts of one character, lists of one element, ones and `true`;
/// 4. all bits zero, for a type without references;
/// 5. a structure that is put together of empty values of its stored properties, though its `init(from:)` refuses them; not
///    on Apple's systems, whose standard library does not show the stored properties of a type.
///
/// A value that another object has is never taken: it may be of another store, whose values are not to be seen here. What
/// remains is a class, or an enum with payloads, whose `init(from:)` refuses all made-up values, without a default value.
/// Reading such a property traps.
enum MissingValue {
    /// A value for the property in a slot of a model class.
    static func substitute<V>(for model: (any GraphObject.Type)?, at slot: Int) -> V {
        if let none = Optional<Any>.none as? V { return none }
        if let model = model as? any PersistentModel.Type, let value = declaredDefault(at: slot, of: model) as? V {
            return value
        }
        if let value = make(V.self) ?? zero(V.self) { return value }
        if let value = ProbeValues(.empty).assembledValue(V.self, depth: 0) { return value }
        preconditionFailure(
            "a property of type \(V.self) has no value, and none can be made: make it optional, or give it a default value"
        )
    }

    /// The default value in the declaration of the property in a slot; evaluated anew, as for a new object.
    private static func declaredDefault(at slot: Int, of model: any PersistentModel.Type) -> Any? {
        let properties = ModelInheritance(of: model).levels.flatMap(\.properties)
        return properties.indices.contains(slot) ? properties[slot].defaultValue : nil
    }

    /// A value that the type itself accepts; nil where it accepts none of those that are made up.
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
        (Raw.RawValue.self as? any StorableValue.Type).flatMap { $0.read(.nullSlot, 0) as? Raw.RawValue }
            .flatMap(Raw.init(rawValue:))
    }

    /// All bits zero: the first case of an enum, and zero in every member of a structure of numbers; nil for a type with
    /// references.
    static func zero<V>(_ type: V.Type) -> V? {
        guard _isPOD(type) else { return nil }
        return withUnsafeTemporaryAllocation(of: type, capacity: 1) { buffer in
            UnsafeMutableRawBufferPointer(buffer).initializeMemory(as: UInt8.self, repeating: 0)
            return buffer[0]
        }
    }
}

extension PersistentModel {
    /// The value of a property that has none, which is reported unless the object is new or its row is not known.
    @usableFromInline
    func missingValue<V>(at slot: Int) -> V {
        reportUnreadableValue(at: slot, as: V.self)
        return MissingValue.substitute(for: Self.self, at: slot)
    }

    /// The model of a required relationship that leads nowhere: one without values that counts as deleted.
    @usableFromInline
    func missingDestination<M: PersistentModel>(at slot: Int) -> M {
        reportMissingDestination(at: slot)
        return M._$placeholder(slotCount: M._$slotCount)
    }
}

extension Materialization {
    /// The same for a constant.
    func missingValue<V>(at slot: Int) -> V {
        reportUnreadableValue(at: slot, as: V.self)
        return MissingValue.substitute(for: objectType, at: slot)
    }
}
