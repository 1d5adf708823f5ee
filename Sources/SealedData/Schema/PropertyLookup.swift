import Guarded

/// Finds the property of a model class that a key path leads to.
///
/// A key path to a persisted property contains neither name nor slot, because the property is computed. It can only be
/// compared with the key paths in `schemaMetadata`. An inherited property has one key path for each class from which it
/// is reachable, `\Base.name` and `\Leaf.name`, which are not equal.
///
/// `@unchecked Sendable`: all properties are constants, and key paths are immutable.
final class PropertyLookup: @unchecked Sendable {
    /// The names of the properties in the order of their slots, inherited ones first.
    let names: [String]
    private let keyPaths: [AnyKeyPath]
    private let slotsByKeyPath: [AnyKeyPath: Int]
    private let slotsByName: [String: Int]

    private static let cache = Guarded<[ObjectIdentifier: PropertyLookup]>([:])
    /// Slots by the identity of key paths, which are retained so that their addresses are not reused.
    ///
    /// Most programs write key paths as literals, which are created once. Programs that create them dynamically can
    /// make any number.
    private static let slots = Guarded(BoundedCache<ObjectIdentifier, KnownSlot>(limit: 512))

    /// `@unchecked Sendable`: the properties are constants, and key paths are immutable.
    private struct KnownSlot: @unchecked Sendable {
        let keyPath: AnyKeyPath
        let slot: Int
    }

    /// Returns the properties of a class, which are read once.
    static func properties(of type: any PersistentModel.Type) -> PropertyLookup {
        let key = ObjectIdentifier(type)
        if let known = cache.withLock({ $0[key] }) { return known }
        // Outside the lock: the metadata evaluates default values, which run the program's code.
        let new = PropertyLookup(type)
        return cache.withLock { cache in
            if let known = cache[key] { return known }
            cache[key] = new
            return new
        }
    }

    /// Returns the slot of a property; nil unless the key path leads to a persisted property of the class.
    ///
    /// The key path may name a protocol requirement, see ``RequirementLookup``.
    static func slot(of keyPath: AnyKeyPath, in type: any PersistentModel.Type) -> Int? {
        properties(of: type).slot(of: keyPath) ?? RequirementLookup.slot(of: keyPath, in: type)
    }

    /// Returns the slot of a property by a key path of the class itself.
    func slot(of keyPath: AnyKeyPath) -> Int? { slotsByKeyPath[keyPath] }

    /// Returns the slot of a property by a key path whose root type may not be a model. It first searches by the
    /// identity of the key path: hashing and comparing key paths takes five times as long.
    static func slot(of keyPath: AnyKeyPath, from root: Any.Type) -> Int? {
        let identity = ObjectIdentifier(keyPath)
        if let known = slots.withLock({ $0.value(for: identity)?.slot }) { return known }
        guard let model = root as? any PersistentModel.Type, let slot = slot(of: keyPath, in: model) else { return nil }
        slots.withLock { _ = $0.insert(KnownSlot(keyPath: keyPath, slot: slot), for: identity) }
        return slot
    }

    /// Returns the name of a property; nil unless the key path leads to a persisted property of the class.
    static func name(of keyPath: AnyKeyPath, in type: any PersistentModel.Type) -> String? {
        slot(of: keyPath, in: type).map { properties(of: type).names[$0] }
    }

    /// Returns the slot of the property with a name.
    func slot(named name: String) -> Int? { slotsByName[name] }

    /// Returns the key path of the property in a slot, from the class that declares it.
    func keyPath(at slot: Int) -> AnyKeyPath { keyPaths[slot] }

    /// Returns the type of the values of the property in a slot.
    func valueType(at slot: Int) -> any Any.Type { type(of: keyPath(at: slot)).valueType }

    /// Whether the property in a slot is declared with `let`.
    func isConstant(_ slot: Int) -> Bool {
        guard let parts = KeyPathParts(keyPath(at: slot))?.parts, parts.count == 1 else { return false }
        if case .stored = parts[0] { return true } else { return false }
    }

    private init(_ type: any PersistentModel.Type) {
        let levels = ModelInheritance(of: type).levels
        var names: [String] = []
        var keyPaths: [AnyKeyPath] = []
        var slots: [AnyKeyPath: Int] = [:]
        for level in levels {
            let first = names.count
            for entry in level.properties {
                slots[entry.keypath] = names.count
                names.append(entry.name)
                keyPaths.append(entry.keypath)
            }
            guard let inheritable = level.type as? any _InheritableModel.Type else { continue }
            for subclass in levels.drop(while: { $0.type != level.type }).dropFirst() {
                for (offset, keyPath) in inheritable._$keyPaths(from: subclass.type).enumerated() {
                    slots[keyPath] = first + offset
                }
            }
        }
        self.names = names
        self.keyPaths = keyPaths
        slotsByKeyPath = slots
        slotsByName = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
    }
}

/// A model class that other model classes can inherit from.
///
/// ``Model()`` generates the conformance for classes that are not final:
///
/// ```swift
/// class func _$keyPaths(from type: any PersistentModel.Type) -> [AnyKeyPath] {
///     func keyPaths<Model: Base>(_: Model.Type) -> [AnyKeyPath] { [\Model.name, \Model.start] }
///     return (type as? any (Base & PersistentModel).Type).map { _openExistential($0, do: keyPaths) } ?? []
/// }
/// ```
public protocol _InheritableModel: PersistentModel {
    /// Returns the key paths of the properties that the class declares, in the order of their slots. Their root is a
    /// class that inherits from it.
    static func _$keyPaths(from type: any PersistentModel.Type) -> [AnyKeyPath]
}

extension PropertyLookup {
    /// Returns the key paths of named properties, for decoding.
    static func keyPaths<Model: PersistentModel>(
        named names: [String],
        in type: Model.Type,
        at codingPath: [any CodingKey]
    ) throws -> [PartialKeyPath<Model>] {
        let properties = properties(of: type)
        return try names.map { name in
            guard let slot = properties.slot(named: name),
                let keyPath = properties.keyPath(at: slot) as? PartialKeyPath<Model>
            else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: codingPath, debugDescription: "\(type) declares no property '\(name)'")
                )
            }
            return keyPath
        }
    }

    /// Returns the names of key paths, for encoding.
    static func names(
        of keyPaths: [AnyKeyPath],
        in type: any PersistentModel.Type,
        at codingPath: [any CodingKey]
    ) throws -> [String] {
        try keyPaths.map { keyPath in
            guard let name = name(of: keyPath, in: type) else {
                throw EncodingError.invalidValue(
                    keyPath,
                    .init(codingPath: codingPath, debugDescription: "\(type) has no persisted property \(keyPath)")
                )
            }
            return name
        }
    }
}
