import EncryptedSQLite
import ObjectGraph

extension OpenStore {
    /// Writes changes in one transaction.
    func save(_ request: SaveChangesRequest) throws {
        try writeTransaction { connection in
            var transaction = SaveTransaction(connection, self)
            try transaction.write(request)
        }
    }

    /// Deletes all rows in one transaction. The file keeps its size and reuses the space.
    func erase() throws {
        try writeTransaction { connection in
            let own = schema.model.entities.filter { description.entityNames?.contains($0.name) ?? true }
            for relationship in own.flatMap(\.relationships) {
                guard let pairs = schema.joinTables[relationship.index] else { continue }
                try connection.execute("DELETE FROM \(pairs.name)")
            }
            for entity in own where entity.isRoot {
                try connection.execute("DELETE FROM \(schema.table(of: entity).name)")
            }
        }
    }

    /// Returns identifiers from the store's sequence, which reserves them in blocks.
    func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID] {
        guard !description.isReadOnly else { throw ObjectGraphError.storeIsReadOnly }
        let root = model.root(of: entity)
        let keys = try sequences.take(count, rootIndex: root.index) { count in
            try writeTransaction { try PrimaryKeySequences.reserve(count, of: root, on: $0) }
        }
        if let last = keys.last { tableSizes.note(lastKey: last, rootIndex: root.index) }
        return keys.map { ManagedObjectID(entity: entity, storeUUID: uuid, key: $0) }
    }
}
