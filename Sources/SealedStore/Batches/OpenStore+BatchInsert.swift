import EncryptedSQLite
import ObjectGraph

extension OpenStore {
    /// The number of rows that are encoded before they are written.
    private static let rowsAtOnce = 512

    /// Inserts the rows of a batch request, in one transaction.
    func insert(_ insertion: BatchInsertion, author: String?) throws -> BatchChanges {
        let result: Result<BatchChanges, any Error> = try writeTransaction { connection in
            do {
                // A savepoint: the program's closure runs inside it and may have obtained keys for other objects, which
                // stay reserved when the rows are rolled back.
                return .success(try insertRows(insertion, author: author))
            } catch {
                // An I/O error or a full disk has rolled the whole transaction back.
                guard connection.isInTransaction else { throw error }
                try sequences.reserveAgain(for: schema.model, on: connection)
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func insertRows(_ insertion: BatchInsertion, author: String?) throws -> BatchChanges {
        try writeTransaction { connection in
            var save = SaveTransaction(connection, self)
            let root = schema.model.root(of: insertion.entity)
            var changes = BatchChanges()
            while true {
                // Reserved in this transaction, not taken from the store's supply: keys that a rollback releases were
                // never returned.
                let keys = try PrimaryKeySequences.reserve(Self.rowsAtOnce, of: root, on: connection)
                let rows = try insertion.nextRows(keys: keys)
                try save.insert(rows)
                changes.addInserted(keys.prefix(rows.count))
                if rows.count < keys.count { break }
            }
            try save.noteMixedTexts()
            try UniqueTexts(connection, self).require(
                changes.inserted.flatMap { Array($0) },
                of: insertion.entity
            )
            changes.relationships = insertion.relationships.sorted { $0.index < $1.index }
            if let first = changes.inserted.first, let last = changes.inserted.last {
                let range = first.lowerBound..<last.upperBound
                for relationship in changes.relationships {
                    try requireDestinations(of: relationship, sources: range, connection)
                }
            }
            let history = try HistoryRecorder.begin(connection, self, author: author)
            try history?.addInsertions(changes.inserted, of: insertion.entity, changes.relationships)
            _ = try history?.finish()
            return changes
        }
    }

    /// - Throws: `SaveConflict.outdated` with destinations that do not exist, or are of another entity.
    private func requireDestinations(
        of relationship: Relationship,
        sources: Range<Int64>,
        _ connection: Connection
    ) throws {
        let condition = #"t0."_id" >= \#(sources.lowerBound) AND t0."_id" < \#(sources.upperBound)"#
        try BatchDestinations(relationship, self).require(on: connection, where: condition)
    }
}

/// The check that the destinations that a batch request has written exist.
struct BatchDestinations {
    private let relationship: Relationship
    private let store: OpenStore

    init(_ relationship: Relationship, _ store: OpenStore) {
        self.relationship = relationship
        self.store = store
    }

    /// Checks the rows for which a condition on `t0` holds.
    ///
    /// - Throws: `SaveConflict.outdated` with destinations that do not exist, or are of another entity.
    func require(on connection: Connection, where condition: String) throws {
        let destination = relationship.destination
        let column = "t0.\(store.schema.keyColumn(of: relationship).name)"
        let source = store.schema.table(of: relationship.source).name
        let family =
            store.statements.selection(of: destination).familyCondition
            .map { " AND " + $0.replacing("t0.", with: "d.") } ?? ""
        let sql = """
            SELECT DISTINCT \(column) FROM \(source) AS t0 WHERE \(condition) AND \(column) IS NOT NULL \
            AND NOT EXISTS (SELECT 1 FROM \(store.schema.table(of: destination).name) AS d \
            WHERE d."_id" = \(column)\(family)) LIMIT \(batchProblemLimit)
            """
        let missing = try connection.withStatement(sql) { statement in
            var keys: [Int64] = []
            while try statement.step() { keys.append(statement.integer(at: 0)) }
            return keys
        }
        guard missing.isEmpty else {
            throw SaveConflict.outdated(
                missing.map { ManagedObjectID(entity: destination, storeUUID: store.uuid, key: $0) }
            )
        }
    }
}

extension BatchChanges {
    /// Adds keys of new objects, to the last range if they follow it.
    fileprivate mutating func addInserted(_ keys: Range<Int64>) {
        guard !keys.isEmpty else { return }
        if let last = inserted.last, last.upperBound == keys.lowerBound {
            inserted[inserted.count - 1] = last.lowerBound..<keys.upperBound
        } else {
            inserted.append(keys)
        }
    }
}
