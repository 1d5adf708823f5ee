import EncryptedSQLite
import ObjectGraph

extension SealedStore {
    /// Deletes all rows in one transaction. The file keeps its size and uses the room again.
    func erase() throws -> StoreResult {
        try writeTransaction { connection, layout in
            let schema = layout.schema
            let own = schema.model.entities.filter { description.entityNames?.contains($0.name) ?? true }
            for relationship in own.flatMap(\.relationships) {
                guard let pairs = schema.joinTables[relationship.index] else { continue }
                try connection.execute("DELETE FROM \(pairs.name)")
            }
            for entity in own where entity.isRoot {
                try connection.execute("DELETE FROM \(schema.table(of: entity).name)")
            }
        }
        return .saved
    }
}
