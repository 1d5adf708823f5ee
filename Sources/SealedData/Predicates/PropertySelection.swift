import ObjectGraph

/// The properties that key paths name, for a fetch that reads no others.
struct PropertySelection {
    let properties: [Property]

    /// - Throws: ``SwiftDataError/unsupportedKeyPath`` for a path that leads to no persisted property of the model.
    init<T: PersistentModel>(_ keyPaths: [PartialKeyPath<T>], of model: T.Type, entity: Entity) throws {
        let lookup = PropertyLookup.properties(of: model)
        // A model keeps its constants itself, and has them from the beginning.
        var slots = Set(lookup.names.indices.filter(lookup.isConstant))
        for keyPath in keyPaths {
            guard let slot = PropertyLookup.slot(of: keyPath, in: model), slot < entity.slotCount else {
                throw SwiftDataError(.unsupportedKeyPath, "'\(keyPath)' is not a persisted property of the model")
            }
            slots.insert(slot)
        }
        properties = slots.sorted().map { entity.properties[$0] }
    }
}
