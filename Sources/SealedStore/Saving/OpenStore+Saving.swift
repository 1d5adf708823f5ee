import EncryptedSQLite
import Foundation
import ObjectGraph

extension OpenStore {
    /// Writes changes in one transaction.
    ///
    /// - Returns: the transaction in the history; nil if the file has none.
    func save(_ request: SaveChangesRequest, author: String?) throws -> PersistentHistoryPosition? {
        try writeTransaction { connection in
            let history = try HistoryRecorder.begin(connection, self, author: author)
            var transaction = SaveTransaction(connection, self, history)
            try transaction.write(request)
            guard let history, let number = try history.finish() else { return nil }
            return PersistentHistoryPosition(
                number: number,
                timestamp: Date(timeIntervalSinceReferenceDate: history.timestamp)
            )
        }
    }

    /// Deletes all rows in one transaction. The file keeps its size and reuses the space.
    func erase(author: String?) throws {
        try writeTransaction { connection in
            let history = try HistoryRecorder.begin(connection, self, author: author)
            let own = schema.model.entities.filter { description.entityNames?.contains($0.name) ?? true }
            try history?.addErasure(of: own.filter(\.isRoot))
            for relationship in own.flatMap(\.relationships) {
                guard let pairs = schema.joinTables[relationship.index] else { continue }
                try connection.execute("DELETE FROM \(pairs.name)")
            }
            for entity in own where entity.isRoot {
                try connection.execute("DELETE FROM \(schema.table(of: entity).name)")
            }
            _ = try history?.finish()
        }
    }

    /// Returns identifiers from the store's sequence, which reserves them in blocks.
    func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID] {
        guard !description.isReadOnly else { throw ObjectGraphError.storeIsReadOnly }
        let root = model.root(of: entity)
        let keys = try sequences.take(count, rootIndex: root.index) { count in
            var isCommit = false
            let keys = try writeTransaction { connection in
                isCommit = !connection.isInNestedTransaction
                return try PrimaryKeySequences.reserve(count, of: root, on: connection)
            }
            historyFollowing.noteReservation(of: keys.count, isCommit: isCommit)
            return keys
        }
        if let last = keys.last { tableSizes.note(lastKey: last, rootIndex: root.index) }
        return keys.map { ManagedObjectID(entity: entity, storeUUID: uuid, key: $0) }
    }
}
