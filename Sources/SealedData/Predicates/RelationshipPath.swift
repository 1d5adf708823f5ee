import ObjectGraph

/// The relationships of a key path.
struct RelationshipPath {
    /// The relationships in the order of the path.
    private(set) var relationships: [Relationship] = []

    /// - Throws: ``SwiftDataError/unsupportedKeyPath`` for a path with other properties.
    init(_ keyPath: AnyKeyPath, of model: any PersistentModel.Type, entity: Entity) throws {
        let slots =
            PropertyLookup.slot(of: keyPath, in: model).map { [$0] } ?? PropertyPath.slots(along: keyPath, of: model)
        var entity = entity
        for slot in slots ?? [] {
            guard slot < entity.slotCount, case .relationship(let relationship) = entity.properties[slot] else {
                throw SwiftDataError(
                    .unsupportedKeyPath,
                    "'\(keyPath)' contains a property that is no relationship"
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
