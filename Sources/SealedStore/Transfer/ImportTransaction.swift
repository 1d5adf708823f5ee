import EncryptedSQLite
package import ObjectGraph

extension SealedStore {
    /// Calls `body` in one write transaction, which an error rolls back. Calls of a thread can nest.
    ///
    /// - Throws: ObjectGraph's errors for a read-only store and for violated uniqueness constraints; `DatabaseError`;
    ///   errors of `body`.
    package func importing<R>(_ body: (ImportTransaction) throws -> R) throws -> R {
        try opened.writeTransaction { connection in
            let history = try HistoryRecorder.begin(connection, opened, author: nil)
            let result = try body(ImportTransaction(connection, opened, history))
            _ = try history?.finish()
            return result
        }
    }

    /// Opens a store, calls `body` as ``importing(_:)`` does, and closes the store. Begins again if another file takes the
    /// place of the file before `body` is called.
    package static func importing<R>(
        into description: PersistentStoreDescription,
        for model: ManagedObjectModel,
        _ body: (ImportTransaction) throws -> R
    ) throws -> R {
        try ReplacedFile.beginningAgain { _ in
            let store = try SealedStore.loadMetadata(of: description, for: model)
            defer { try? store.close() }
            var hasBegun = false
            do {
                return try ReplacedFile.using(store.opened.database) {
                    try store.importing { transaction in
                        hasBegun = true
                        return try body(transaction)
                    }
                }
            } catch let replaced as ReplacedFile where hasBegun {
                throw replaced.cause
            }
        }
    }
}

/// Writes rows of an import, whose references may lead to rows that are written later.
///
/// A save checks its references when it writes them. An import checks all of them at its end, see ``ImportCheck``.
package struct ImportTransaction {
    let connection: Connection
    let store: OpenStore
    /// Records the changes; nil if the file has no history.
    let history: HistoryRecorder?

    init(_ connection: Connection, _ store: OpenStore, _ history: HistoryRecorder?) {
        self.connection = connection
        self.store = store
        self.history = history
    }

    // MARK: Rows

    /// Reserves keys for new objects.
    package func reserveKeys(_ count: Int, of root: Entity) throws -> Range<Int64> {
        try PrimaryKeySequences.reserve(count, of: root, on: connection)
    }

    /// Whether the store has no object of an entity with the same root.
    package func isEmpty(_ root: Entity) throws -> Bool {
        try connection.withStatement("SELECT 1 FROM \(store.schema.table(of: root).name) LIMIT 1") { try !$0.step() }
    }

    /// Whether the store has no object of an entity with the same root, and no program has reserved a key for one. Keys
    /// of deleted objects are never assigned again, and other programs may hold keys of objects that they will save.
    package func isUnused(_ root: Entity) throws -> Bool {
        try isEmpty(root) && PrimaryKeySequences.lastKey(of: root, on: connection) == 0
    }

    /// Makes the sequence of a root entity return keys behind a key.
    package func advanceSequence(of root: Entity, beyond key: Int64) throws {
        let sql = #"UPDATE "_sequence" SET "next" = max("next", ?1 + 1) WHERE "entity" = ?2"#
        try connection.withStatement(sql) { statement in
            try statement.bind(key, at: 1)
            try statement.bind(text: root.name, at: 2)
            try statement.run()
        }
    }

    /// Inserts rows.
    package func insert(_ rows: RowBatch) throws {
        var save = SaveTransaction(connection, store)
        try save.insert(rows)
        try save.noteMixedTexts()
        history?.noteImport(of: rows)
    }

    /// Updates rows. A member of an ordered one-to-many relationship whose owner changes becomes the last member of the
    /// new owner.
    ///
    /// - Throws: `SaveConflict.outdated` with rows that the store does not have in their previous version.
    package func update(_ rows: RowBatch, _ updates: [SaveChangesRequest.Update]) throws {
        var save = SaveTransaction(connection, store)
        var request = SaveChangesRequest()
        request.updated = rows
        request.updates = updates
        var conflicts: [ManagedObjectID] = []
        try history?.keepUpdatedRows(request)
        for (row, update) in zip(rows, updates) {
            history?.note(update.slots, of: row.key, store.schema.model.entities[row.entityIndex])
        }
        try clearPositions(ofChanged: rows, updates)
        try save.update(request, &conflicts)
        guard conflicts.isEmpty else { throw SaveConflict.outdated(conflicts) }
        try save.noteMixedTexts()
    }

    /// The row of an object; nil if there is none.
    package func row(of entity: Entity, key: Int64) throws -> Row? {
        try store.rows(with: [key], of: entity, in: nil, readFailures: nil).first { _ in true }
    }

    /// The keys of the objects of an entity for which a condition holds.
    package func keys(of entity: Entity, where condition: QueryExpression) throws -> [Int64] {
        try store.fetchIDs(FetchRequest(entity, predicate: condition)).map(\.key)
    }

    // MARK: References

    /// Whether the store has an object of an entity or its subentities.
    package func hasObject(of entity: Entity, key: Int64) throws -> Bool {
        let family = store.statements.selection(of: entity).familyCondition.map { " AND " + $0 } ?? ""
        let sql = #"SELECT 1 FROM \#(store.schema.table(of: entity).name) AS t0 WHERE t0."_id" = ?\#(family)"#
        return try connection.withStatement(sql) { query in
            try query.bind(key, at: 1)
            return try query.step()
        }
    }

    /// Clears the values of a to-one relationship that lead to no object. Returns their number.
    package func clearDanglingReferences(of relationship: Relationship) throws -> Int {
        let table = store.schema.table(of: relationship.source).name
        let column = store.schema.keyColumn(of: relationship).name
        let destination = store.schema.table(of: relationship.destination).name
        let family = store.statements.selection(of: relationship.destination).familyCondition.map { " AND " + $0 } ?? ""
        let condition = """
            s.\(column) IS NOT NULL AND NOT EXISTS \
            (SELECT 1 FROM \(destination) AS t0 WHERE t0."_id" = s.\(column)\(family))
            """
        let sql = "UPDATE \(table) AS s SET \(cut(relationship)) WHERE \(condition)"
        if let history {
            try history.clear(
                relationship,
                with: SQLText(sql + #" RETURNING "_id""#),
                finding: SQLText(#"SELECT s."_id" FROM \#(table) AS s WHERE \#(condition)"#)
            ) { _ in }
        } else {
            try connection.execute(sql)
        }
        return connection.changes
    }

    /// The assignments that remove a reference, with its position in the inverse.
    func cut(_ reference: Relationship) -> String {
        let column = store.schema.keyColumn(of: reference).name
        let position = reference.inverse.flatMap { store.schema.table(of: reference.source).positionColumns[$0] }
        return [column, position].compactMap(\.self).map { "\($0) = NULL" }.joined(separator: ", ")
    }

    /// Runs a statement with numbers as its parameters.
    func run(_ sql: String, _ parameters: [Int64]) throws {
        try connection.withStatement(sql) { statement in
            for (index, parameter) in parameters.enumerated() {
                try statement.bind(parameter, at: Int32(index + 1))
            }
            try statement.run()
        }
    }

    // MARK: One-to-one relationships

    /// Makes the other sides of a one-to-one relationship consistent with a row that has been written, as a save does:
    /// the destination refers back, and other rows lose their references to the row and to its destination.
    ///
    /// - Parameters:
    ///   - key: The key of the row.
    ///   - isWritten: Whether the import has written a destination of a relationship of a row. Such a row keeps it;
    ///     ``problems(written:isCancelled:)`` finds the contradiction.
    /// - Complexity: O(log *n*).
    package func alignOneToOne(
        _ relationship: Relationship,
        of key: Int64,
        isWritten: (_ relationship: Relationship, _ key: Int64) throws -> Bool
    ) throws {
        guard let inverse = relationship.inverse, !inverse.isToMany else { return }
        let destination = try keys(of: relationship.source, #""_id" = ?1"#, [key], column: relationship).first ?? 0
        if destination != 0 {
            try clear(relationship, leadingTo: destination, except: key, isWritten)
            if try !isWritten(inverse, destination) { try set(inverse, of: destination, to: key) }
        }
        try clear(inverse, leadingTo: key, except: destination, isWritten)
    }

    /// Clears a to-one relationship of the rows that refer to a destination, except for one row.
    private func clear(
        _ relationship: Relationship,
        leadingTo destination: Int64,
        except key: Int64,
        _ isWritten: (Relationship, Int64) throws -> Bool
    ) throws {
        let column = store.schema.keyColumn(of: relationship).name
        let condition = #"\#(column) = ?1 AND "_id" <> ?2"#
        for other in try keys(of: relationship.source, condition, [destination, key])
        where try !isWritten(relationship, other) {
            try set(relationship, of: other, to: nil)
        }
    }

    private func set(_ relationship: Relationship, of key: Int64, to destination: Int64?) throws {
        let table = store.schema.table(of: relationship.source)
        let column = store.schema.keyColumn(of: relationship).name
        let current = try keys(of: relationship.source, #""_id" = ?1"#, [key], column: relationship).first
        guard let current, current != destination ?? 0 else { return }
        try history?.keepOldValues([key], of: table.root)
        history?.note(relationship, of: key)
        let version = VersionWord.increment(writing: [])
        try run(
            #"UPDATE \#(table.name) SET \#(column) = nullif(?2, 0), \#(version) WHERE "_id" = ?1"#,
            [key, destination ?? 0]
        )
    }

    /// The keys of the rows for which a condition holds, or their values of a to-one relationship.
    private func keys(
        of entity: Entity,
        _ condition: String,
        _ parameters: [Int64],
        column relationship: Relationship? = nil
    ) throws -> [Int64] {
        let column = relationship.map { store.schema.keyColumn(of: $0).name } ?? #""_id""#
        let sql = "SELECT \(column) FROM \(store.schema.table(of: entity).name) WHERE \(condition)"
        return try connection.withStatement(sql) { query in
            for (index, parameter) in parameters.enumerated() { try query.bind(parameter, at: Int32(index + 1)) }
            var keys: [Int64] = []
            while try query.step() { keys.append(query.integer(at: 0)) }
            return keys
        }
    }

    // MARK: The end

    /// Completes the inverses of one-to-one relationships of which only one side was written.
    package func completeOneToOnes() throws {
        for relationship in store.schema.model.relationships where !relationship.isToMany {
            guard let inverse = relationship.inverse, !inverse.isToMany else { continue }
            let source = store.schema.table(of: relationship.source).name
            let column = store.schema.keyColumn(of: relationship).name
            let destination = store.schema.table(of: inverse.source).name
            let inverseColumn = store.schema.keyColumn(of: inverse).name
            let condition = """
                d.\(inverseColumn) IS NULL AND EXISTS (SELECT 1 FROM \(source) AS s WHERE s.\(column) = d."_id")
                """
            let sql = """
                UPDATE \(destination) AS d SET \(inverseColumn) = \
                (SELECT min(s."_id") FROM \(source) AS s WHERE s.\(column) = d."_id"), \
                \(VersionWord.increment(writing: [])) WHERE \(condition)
                """
            if let history {
                try history.clear(
                    inverse,
                    with: SQLText(sql + #" RETURNING "_id""#),
                    finding: SQLText(#"SELECT d."_id" FROM \#(destination) AS d WHERE \#(condition)"#)
                ) { _ in }
            } else {
                try connection.execute(sql)
            }
        }
    }

    /// Completes the relationships with a shared inverse of which only one side was written.
    package func alignSharedInverses() throws {
        var save = SaveTransaction(connection, store, history)
        for change in try save.alignAllSharedInverses() { history?.note(change) }
    }

    /// The violations of the model that the import has caused, one line each, see ``ImportCheck``.
    ///
    /// - Parameters:
    ///   - written: The smallest and the largest key of the new and updated objects, by entity.
    ///   - isCancelled: Whether the check ends. It is called by the statements of the check.
    /// - Throws: `SaveConflict.notUnique`; `DatabaseError.interrupted`.
    /// - Complexity: A scan of the tables for each rule.
    package func problems(
        written: [(entity: Entity, keys: ClosedRange<Int64>)],
        isCancelled: @escaping @Sendable () -> Bool
    ) throws -> [String] {
        try connection.interruptible(when: isCancelled) {
            for (entity, keys) in written { try UniqueTexts(connection, store).require(keys, of: entity) }
            return try ImportCheck(connection, store).problems()
        }
    }
}
