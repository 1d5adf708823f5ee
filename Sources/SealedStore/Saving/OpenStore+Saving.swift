import EncryptedSQLite
import Foundation
import ObjectGraph

extension OpenStore {
    /// Writes changes in one transaction.
    func save(_ request: SaveChangesRequest, author: String?) throws -> SaveResult {
        try writeTransaction { connection in
            let history = try HistoryRecorder.begin(connection, self, author: author)
            var transaction = SaveTransaction(connection, self, history)
            try transaction.write(request)
            var position: PersistentHistoryPosition?
            if let history, let number = try history.finish() {
                position = PersistentHistoryPosition(
                    number: number,
                    timestamp: Date(timeIntervalSinceReferenceDate: history.timestamp)
                )
            }
            return SaveResult(cleared: transaction.cleared.lists(schema.model), historyPosition: position)
        }
    }

    /// Deletes all rows in one transaction, also those that are set aside. The file keeps its size and reuses the space.
    func erase(author: String?) throws {
        try writeTransaction { connection in
            let history = try HistoryRecorder.begin(connection, self, author: author)
            let own = schema.model.entities.filter { description.entityNames?.contains($0.name) ?? true }
            try history?.addErasure(of: own.filter(\.isRoot))
            for relationship in own.flatMap(\.relationships) {
                guard let pairs = schema.joinTables[relationship.index] else { continue }
                try connection.execute("DELETE FROM \(pairs.name)")
            }
            let largeValues = try largeValues(on: connection)
            for entity in own where entity.isRoot {
                let table = schema.table(of: entity)
                try largeValues?.delete(referredToBy: table.columns.filter(\.mayRefer), of: "\(table.name) WHERE 1")
                try connection.execute("DELETE FROM \(schema.table(of: entity).name)")
            }
            try eraseAside(on: connection)
            try largeValues?.deleteUnused(StoreSchema(ofFileOf: connection))
            _ = try history?.finish()
        }
    }

    /// Returns identifiers from the store's sequence, which reserves them in blocks.
    func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID] {
        guard !description.isReadOnly else { throw ObjectGraphError.storeIsReadOnly }
        let root = model.root(of: entity)
        var ids: [ManagedObjectID] = []
        try sequences.take(count, rootIndex: root.index) { count in
            var isCommit = false
            let keys = try writeTransaction { connection in
                isCommit = !connection.isInNestedTransaction
                return try PrimaryKeySequences.reserve(count, of: root, on: connection)
            }
            historyCursor.noteReservation(of: keys.count, isCommit: isCommit)
            return keys
        } _: { keys in
            ids += keys.lazy.map { ManagedObjectID(entity: entity, storeUUID: uuid, key: $0) }
        }
        if let last = ids.last { tableSizes.note(lastKey: last.key, rootIndex: root.index) }
        return ids
    }
}
