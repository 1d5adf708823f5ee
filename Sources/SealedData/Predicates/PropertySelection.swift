import ObjectGraph

/// The properties of key paths, for a fetch that reads only these.
struct PropertySelection {
    let properties: [Property]

    /// - Throws: ``SwiftDataError/unsupportedKeyPath`` for a path that is not a persisted property of the model.
    init<T: PersistentModel>(_ keyPaths: [PartialKeyPath<T>], of model: T.Type, entity: Entity) throws {
        let lookup = PropertyLookup.properties(of: model)
        // A model stores its constants itself, and reads them when it is created.
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
