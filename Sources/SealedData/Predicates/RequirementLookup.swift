import Foundation
import Guarded
import ObjectGraph

/// The lookup of the persisted property with which a model class satisfies a protocol's requirement.
///
/// ```swift
/// protocol Named { var name: String { get } }
/// func find<T: PersistentModel & Named>(_: T.Type) -> Predicate<T> { #Predicate { $0.name == "x" } }
/// ```
///
/// Generic code has the key path of the requirement, which does not identify the property: it does not equal the key
/// path of any property. The requirement is read from sample objects. The class satisfies it with a persisted property
/// if reading the requirement reads only that property, and has its value for all sample values. Only the code of the
/// requirement runs: a persisted property, or a computed property, for which all persisted properties of the sample
/// objects have values.
enum RequirementLookup {
    private static let cache = Guarded(BoundedCache<AnyKeyPathKey, Int?>(limit: 512))

    /// Returns the slot of the property of a requirement's key path; nil for other key paths, and if no persisted
    /// property satisfies the requirement.
    static func slot(of keyPath: AnyKeyPath, in model: any PersistentModel.Type) -> Int? {
        slot(of: keyPath, in: model, isWhole: true)
    }

    /// Returns the slot for a key path with the suffix that sort descriptors append.
    static func slot(ofSorted keyPath: AnyKeyPath, in model: any PersistentModel.Type) -> Int? {
        slot(of: keyPath, in: model, isWhole: false)
    }

    private static func slot(of keyPath: AnyKeyPath, in model: any PersistentModel.Type, isWhole: Bool) -> Int? {
        // Reading a property can look up another property.
        guard AccessRecorder.current == nil, let path = KeyPathParts(keyPath), path.beginsWithGenericProperty,
            !isWhole || path.parts.count == 1
        else { return nil }
        return cache.value(for: AnyKeyPathKey(keyPath)) { find(keyPath, in: model, isWhole: path.parts.count == 1) }
    }

    private static func find<Model: PersistentModel>(
        _ keyPath: AnyKeyPath,
        in model: Model.Type,
        isWhole: Bool
    ) -> Int? {
        guard let keyPath = keyPath as? PartialKeyPath<Model> else { return nil }
        let lookup = PropertyLookup.properties(of: model)
        let slots = lookup.names.indices.filter { slot in
            let type = lookup.valueType(at: slot)
            guard isWhole else { return [String.self, Bool.self].contains { PropertyKind.unwrapped(type) == $0 } }
            // Values for a value transformer cannot be generated.
            return type == Swift.type(of: keyPath).valueType && PropertyKind(of: type) != nil
        }
        guard !slots.isEmpty, Model.hasReadableSamples, let object = Model.sample(with: [:]) else { return nil }
        guard let read = AccessRecorder.slots(of: object, readBy: { _ = object[keyPath: keyPath] }), read.count <= 1
        else { return nil }
        // Reads of constants are not recorded.
        return slots.first { slot in
            read == (lookup.isConstant(slot) ? [] : [slot]) && isRead(slot, by: keyPath, lookup)
        }
    }

    /// Returns whether a key path has the value of the property in a slot for all sample values.
    private static func isRead<Model: PersistentModel>(
        _ slot: Int,
        by keyPath: PartialKeyPath<Model>,
        _ lookup: PropertyLookup
    ) -> Bool {
        let property = lookup.keyPath(at: slot)
        let values = SampleValue.all(of: type(of: property).valueType)
        // A single value does not distinguish the property from a constant result.
        guard values.count > 1 else { return false }
        return values.allSatisfy { value in
            guard let object = Model.sample(with: [slot: value]) else { return false }
            var isSame = false
            let slots = AccessRecorder.slots(of: object) {
                // The root of the key path can be a superclass, which declares the property.
                isSame = object[keyPath: property].map { areSame(object[keyPath: keyPath], $0) } ?? false
            }
            return isSame && slots == (lookup.isConstant(slot) ? [] : [slot])
        }
    }

    private static func areSame(_ left: Any, _ right: Any) -> Bool {
        if let left = sortedLiteral(of: left), let right = sortedLiteral(of: right) { return left == right }
        if let left = left as? any PersistentModel, let right = right as? any PersistentModel { return left === right }
        if let left = left as? any RelationshipCollection, let right = right as? any RelationshipCollection {
            return left._$models.map { ObjectIdentifier($0) } == right._$models.map { ObjectIdentifier($0) }
        }
        if let left = left as? any Equatable { return isEqual(left, right) }
        guard let left = CompositeEquality.encodedText(of: left) else { return false }
        return left == CompositeEquality.encodedText(of: right)
    }

    private static func isEqual<T: Equatable>(_ left: T, _ right: Any) -> Bool { right as? T == left }
}
