import EncryptedSQLite
import ObjectGraph

extension SaveTransaction {
    /// Deletes rows.
    func delete(_ groups: [DeletedKeys], _ conflicts: inout [ManagedObjectID]) throws {
        if let largeValues = try store.largeValues(on: connection) {
            for group in groups {
                let statements = store.statements.deletion(from: group.entity, group.form)
                try largeValues.delete(
                    referredToBy: store.referringColumns(of: group.entity, on: connection),
                    of: statements.rows
                ) {
                    try group.bind(to: $0)
                }
            }
        }
        let emptied = try emptyTables(groups)
        for group in groups where !emptied.contains(group.entity.rootIndex) {
            guard try delete(group) < group.keys.count else { continue }
            conflicts += try remainingKeys(of: group).map { id(group.entity, $0) }
        }
    }

    /// Clears the references of one kind to deleted rows; most of the rows with such references are deleted or changed
    /// before.
    ///
    /// - Throws: `SaveConflict.remainingReferences` with every reference that may not be cleared.
    mutating func clearReferences(
        to groups: [DeletedKeys],
        _ references: KeyPath<DeletionStatements, [ReferenceStatements]>
    ) throws {
        var found: [RemainingReference] = []
        for group in groups {
            let statements = store.statements.deletion(from: group.entity, group.form)
            for statements in statements[keyPath: references] {
                if !clearsAllReferences || statements.clearing == nil { try find(statements, group, &found) }
                guard let clearing = statements.clearing, found.isEmpty,
                    clearsAllReferences || statements.isOfPairs || statements.finding == nil
                else { continue }
                try clear(statements, clearing, group)
            }
        }
        guard found.isEmpty else { throw SaveConflict.remainingReferences(found) }
    }

    /// Clears references, and records the changes of the remaining objects.
    private mutating func clear(
        _ statements: ReferenceStatements,
        _ clearing: SQLText,
        _ group: DeletedKeys
    ) throws {
        if let history, statements.isOfPairs, let recorded = statements.recorded, let reference = statements.reference {
            try connection.withStatement(recorded) { statement in
                try group.bind(to: statement)
                while try statement.step() {
                    history.noteLoss(of: statement.integer(at: 1), reference, from: statement.integer(at: 0))
                }
            }
        }
        if !statements.isOfPairs, let reference = statements.reference, let finding = statements.recorded {
            return try clear(reference, with: clearing, finding: finding) { try group.bind(to: $0) }
        }
        try connection.withStatement(clearing) { statement in
            try group.bind(to: statement)
            try statement.run()
        }
    }

    /// Clears references in rows that the request does not contain.
    ///
    /// - Parameters:
    ///   - clearing: The statement of ``StoreSchema/clearing(_:where:)``.
    ///   - finding: Selects the keys of the same rows before.
    ///   - bind: Binds the parameters of both statements.
    mutating func clear(
        _ reference: Relationship,
        with clearing: SQLText,
        finding: @autoclosure () -> SQLText,
        _ bind: (borrowing Statement) throws -> Void
    ) throws {
        let keys =
            if let history {
                try history.clear(reference, with: clearing, finding: finding(), bind)
            } else {
                try connection.keys(clearing, bind)
            }
        cleared.add(keys, of: reference)
    }

    private func find(
        _ statements: ReferenceStatements,
        _ group: DeletedKeys,
        _ found: inout [RemainingReference]
    ) throws {
        guard let finding = statements.finding else { return }
        try connection.withStatement(finding) { query in
            try group.bind(to: query)
            while try query.step() {
                let remaining = statements.reference?.source ?? statements.rule?.destination ?? group.entity
                found.append(
                    RemainingReference(
                        deleted: id(group.entity, query.integer(at: 1)),
                        remaining: id(remaining, query.integer(at: 0)),
                        rule: statements.rule,
                        reference: statements.reference
                    )
                )
            }
        }
    }

    /// Deletes the rows of one entity that still have the version that was read.
    private func delete(_ group: DeletedKeys) throws -> Int {
        let statements = store.statements.deletion(from: group.entity, group.form)
        return try connection.withStatement(statements.delete) { statement in
            try group.bindWithVersion(to: statement)
            try statement.run()
            return connection.changes
        }
    }

    /// Empties the tables whose rows are all to be deleted and have the versions that were read: SQLite releases the
    /// pages, which takes a fraction of the time of deleting the rows.
    ///
    /// - Returns: the positions of the root entities of those tables.
    private func emptyTables(_ groups: [DeletedKeys]) throws -> Set<Int> {
        guard groups.contains(where: { $0.form == .range }) else { return [] }
        var emptied: Set<Int> = []
        for (rootIndex, groups) in Dictionary(grouping: groups, by: \.entity.rootIndex) {
            let root = store.schema.model.entities[rootIndex]
            let table = store.schema.table(of: root).name
            // With triggers, SQLite deletes rows one by one in any case.
            guard !store.schema.hasTriggers(root), try areAllRows(groups, of: table) else { continue }
            try connection.withStatement("DELETE FROM \(table)") { try $0.run() }
            emptied.insert(rootIndex)
        }
        return emptied
    }

    /// Whether groups are all rows of a table, in the versions that were read.
    private func areAllRows(_ groups: [DeletedKeys], of table: String) throws -> Bool {
        guard let keys = DeletedKeys.wholeRange(of: groups) else { return false }
        // The later queries scan rows. This query ensures that they scan less than twice as many rows as there are
        // keys.
        let isWithin = try number(
            "SELECT NOT EXISTS (SELECT 1 FROM \(table) WHERE \"_id\" < ?1 OR \"_id\" > ?2)",
            .integer(keys.lowerBound),
            .integer(keys.upperBound)
        )
        let count = groups.reduce(0) { $0 + $1.keys.count }
        guard isWithin == 1, try number("SELECT count(*) FROM \(table)") == count else { return false }
        return try groups.allSatisfy { group in
            try connection.withStatement(store.statements.deletion(from: group.entity, group.form).count) { query in
                try group.bindWithVersion(to: query)
                return try query.step() && query.integer(at: 0) == group.keys.count
            }
        }
    }

    /// The number that a statement returns.
    private func number(_ sql: String, _ parameters: Value...) throws -> Int64 {
        try connection.withStatement(sql) { query in
            try query.bind(parameters)
            return try query.step() ? query.integer(at: 0) : 0
        }
    }

    /// The keys of a group whose rows exist.
    func existing(_ group: DeletedKeys) throws -> [DeletedKeys] {
        let keys = try remainingKeys(of: group)
        if keys.count == group.keys.count { return [group] }
        return KeyGroup.groups(of: keys.sorted(), .writing).map {
            DeletedKeys(entity: group.entity, version: group.version, group: $0)
        }
    }

    /// The keys of the remaining rows.
    private func remainingKeys(of group: DeletedKeys) throws -> [Int64] {
        try connection.withStatement(store.statements.deletion(from: group.entity, group.form).remaining) {
            statement in
            try group.bind(to: statement)
            var keys: [Int64] = []
            while try statement.step() { keys.append(statement.integer(at: 0)) }
            return keys
        }
    }
}

extension Connection {
    /// The integers in the first column of the rows that a statement returns.
    func keys(_ sql: SQLText, _ bind: (borrowing Statement) throws -> Void) throws -> [Int64] {
        try withStatement(sql) { statement in
            try bind(statement)
            var keys: [Int64] = []
            while try statement.step() { keys.append(statement.integer(at: 0)) }
            return keys
        }
    }
}
