extension ManagedObjectID {
    package func predicateKey(in entity: Entity) -> Int64? {
        entity.inheritance.contains { $0.name == self.entity.name } ? key : nil
    }

    package var predicateEntityName: String { entity.name }
}
