/// The row of one object, as a store returns it.
public struct IncrementalStoreNode: Sendable {
    /// The attributes and to-one relationships.
    public let row: Row

    /// A node for a row.
    public init(row: Row) {
        self.row = row
    }

    /// A node for values by property name. To-one relationships are the keys of their destinations; missing values are
    /// null.
    public init(objectID: ManagedObjectID, values: [String: Value], version: UInt32) {
        var rows = RowBatchBuilder()
        let entity = objectID.entity
        rows.begin(key: objectID.key, version: version, entity: entity.index, slotCount: entity.slotCount)
        for (name, value) in values {
            if let slot = entity.propertiesByName[name]?.slot { rows.set(value, at: slot) }
        }
        row = rows.finish().first { _ in true }!
    }
}
