import Foundation
import Guarded
import ObjectGraph

/// Finds the persisted property with which a model class fulfils a protocol's requirement.
///
/// ```swift
/// protocol Named { var name: String { get } }
/// func find<T: PersistentModel & Named>(_: T.Type) -> Predicate<T> { #Predicate { $0.name == "x" } }
/// ```
///
/// Generic code has the key path of the requirement, which is equal to that of no property, and does not tell the property.
/// It is read from objects that are made for it. The class fulfils the requirement with a persisted property if reading the
/// requirement reads that property and no other, and has the same value whatever the property is set to. The code that runs
/// is that of the requirement: nothing else, if the property is persisted; otherwise a computed property, which finds values
/// in all properties that it may read.
enum RequirementLookup {
    private static let cache = Guarded<[AnyKeyPathKey: Int?]>([:])

    /// The slot of the property that a requirement's key path leads to; nil for other key paths, and where no persisted
    /// property fulfils the requirement.
    static func slot(of keyPath: AnyKeyPath, in model: any PersistentModel.Type) -> Int? {
        slot(of: keyPath, in: model, isWhole: true)
    }

    /// The same for a key path that goes on with what sort descriptors put behind a property.
    static func slot(ofSorted keyPath: AnyKeyPath, in model: any PersistentModel.Type) -> Int? {
        slot(of: keyPath, in: model, isWhole: false)
    }

    private static func slot(of keyPath: AnyKeyPath, in model: any PersistentModel.Type, isWhole: Bool) -> Int? {
        // A property that is being read for this may ask for another one.
        guard AccessRecorder.current == nil, let path = KeyPathParts(keyPath), path.beginsWithGenericProperty,
            !isWhole || path.parts.count == 1
        else { return nil }
        let key = AnyKeyPathKey(keyPath)
        if let slot = cache.withLock({ $0[key] }) { return slot }
        // Outside the lock: properties are computed by code of the program.
        let slot = find(keyPath, in: model, isWhole: path.parts.count == 1)
        cache.withLock { $0[key] = .some(slot) }
        return slot
    }

    private static func find<Model: PersistentModel>(
        _ keyPath: AnyKeyPath,
        in model: Model.Type,
        isWhole: Bool
    ) -> Int? {
        guard let keyPath = keyPath as? PartialKeyPath<Model> else { return nil }
        let lookup = PropertyLookup.properties(of: model)
        let slots = lookup.names.indices.filter { slot in
            let type = type(of: lookup.keyPath(at: slot)).valueType
            guard isWhole else { return [String.self, Bool.self].contains { PropertyKind.unwrapped(type) == $0 } }
            return type == Swift.type(of: keyPath).valueType
        }
        guard !slots.isEmpty else { return nil }
        let object = Model.sample(with: [:])
        guard let read = AccessRecorder.slots(of: object, readBy: { _ = object[keyPath: keyPath] }), read.count <= 1
        else { return nil }
        // A constant is read unnoticed.
        return slots.first { slot in
            read == (lookup.isConstant(slot) ? [] : [slot]) && isRead(slot, by: keyPath, lookup)
        }
    }

    /// Whether a key path has the value of the property in a slot, whatever it is.
    private static func isRead<Model: PersistentModel>(
        _ slot: Int,
        by keyPath: PartialKeyPath<Model>,
        _ lookup: PropertyLookup
    ) -> Bool {
        let property = lookup.keyPath(at: slot)
        let values = SampleValue.all(of: type(of: property).valueType)
        // With a single value, a result that depends on nothing would be taken for it.
        guard values.count > 1 else { return false }
        return values.allSatisfy { value in
            let object = Model.sample(with: [slot: value])
            var isSame = false
            let slots = AccessRecorder.slots(of: object) {
                // From any class: a superclass may declare the property.
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
