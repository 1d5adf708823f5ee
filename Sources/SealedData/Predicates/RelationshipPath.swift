import ObjectGraph

/// The relationships that a key path leads through.
struct RelationshipPath {
    /// The relationships from the first on.
    private(set) var relationships: [Relationship] = []

    /// - Throws: ``SwiftDataError/unsupportedKeyPath`` for a path that leads through anything else.
    init(_ keyPath: AnyKeyPath, of model: any PersistentModel.Type, entity: Entity) throws {
        let slots =
            PropertyLookup.slot(of: keyPath, in: model).map { [$0] } ?? PropertyPath.slots(along: keyPath, of: model)
        var entity = entity
        for slot in slots ?? [] {
            guard slot < entity.slotCount, case .relationship(let relationship) = entity.properties[slot] else {
                throw SwiftDataError(
                    .unsupportedKeyPath,
                    "'\(keyPath)' leads through something else than relationships"
                )
            }
            relationships.append(relationship)
            entity = relationship.destination
        }
        guard !relationships.isEmpty else {
            throw SwiftDataError(.unsupportedKeyPath, "'\(keyPath)' is not a path of relationships")
        }
    }
}
