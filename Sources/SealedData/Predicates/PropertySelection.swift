import ObjectGraph

/// The properties that key paths name, for a fetch that reads no others.
struct PropertySelection {
    let properties: [Property]

    /// - Throws: ``SwiftDataError/unsupportedKeyPath`` for a path that leads to no persisted property of the model.
    init<T: PersistentModel>(_ keyPaths: [PartialKeyPath<T>], of model: T.Type, entity: Entity) throws {
        var slots = Self.constants(of: model)
        for keyPath in keyPaths {
            guard let slot = PropertyLookup.slot(of: keyPath, in: model), slot < entity.slotCount else {
                throw SwiftDataError(.unsupportedKeyPath, "'\(keyPath)' is not a persisted property of the model")
            }
            slots.insert(slot)
        }
        properties = slots.sorted().map { entity.properties[$0] }
    }

    /// The slots of properties that are declared with `let`: a model keeps them itself, and has them from the beginning.
    private static func constants(of model: any PersistentModel.Type) -> Set<Int> {
        let lookup = PropertyLookup.properties(of: model)
        return Set(
            lookup.names.indices.filter { slot in
                guard let parts = KeyPathParts(lookup.keyPath(at: slot))?.parts, parts.count == 1 else { return false }
                if case .stored = parts[0] { return true } else { return false }
            }
        )
    }
}
