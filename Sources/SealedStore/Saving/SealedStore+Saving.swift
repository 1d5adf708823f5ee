import EncryptedSQLite
import Foundation
import ObjectGraph

extension SealedStore {
    /// Writes changes in one transaction.
    func save(_ request: SaveChangesRequest) throws -> StoreResult {
        try writeTransaction { connection, layout in
            var transaction = SaveTransaction(connection, layout)
            try transaction.write(request)
        }
        return .saved
    }

    /// Runs `body` in a transaction on a file whose schema is the store's, and rolls the transaction back when it throws. Violated unique indexes are told in the model's
    /// words.
    func writeTransaction<R>(_ body: (Connection, Layout) throws -> R) throws -> R {
        guard !description.isReadOnly else { throw ObjectGraphError.storeIsReadOnly }
        let layout = try layout.value
        do {
            return try layout.database.write { connection in
                // A trigger or view that another program has made since could change or lose what is written.
                _ = try layout.states.state(on: connection)
                return try body(connection, layout)
            }
        } catch DatabaseError.constraint(let violation) where violation.kind == .unique {
            throw notUnique(violation, layout.schema)
        }
    }

    /// The error for a violated unique index, in the model's words.
    private func notUnique(_ violation: ConstraintViolation, _ schema: StoreSchema) -> any Error {
        let table = violation.table.map(SQL.quoted)
        guard let entity = schema.model.entities.first(where: { $0.isRoot && schema.table(of: $0).name == table })
        else {
            return DatabaseError.constraint(violation)
        }
        let columns = Set(violation.columns.map(SQL.quoted))
        let properties = schema.table(of: entity).columns.filter { columns.contains($0.name) }.map(\.property.name)
        return SaveConflict.notUnique(entity: entity.name, properties: properties)
    }
}

/// The statements of one save, on one connection.
///
/// Deletions come first and insertions last, so that a unique value that one object gives up can be taken by another.
struct SaveTransaction {
    private let connection: Connection
    private let layout: SealedStore.Layout
    private var mixedTexts = MixedTexts()

    init(_ connection: Connection, _ layout: SealedStore.Layout) {
        self.connection = connection
        self.layout = layout
    }

    /// Writes all changes.
    ///
    /// - Throws: `SaveConflict.outdated` with every object that somebody else changed.
    mutating func write(_ request: SaveChangesRequest) throws {
        var conflicts: [ManagedObjectID] = []
        try delete(request.deleted, &conflicts)
        try update(request, &conflicts)
        guard conflicts.isEmpty else { throw SaveConflict.outdated(conflicts) }
        try insert(request.inserted)
        for change in request.memberships { try apply(change) }
        try noteMixedTexts()
        try UniqueTexts(connection, layout.schema).require(request)
    }

    /// Records what was found about the form of the texts.
    func noteMixedTexts() throws {
        try TextForms.note(mixedTexts.columns, on: connection)
    }

    // MARK: Rows

    /// Inserts rows, those of one entity that follow each other with one statement.
    mutating func insert(_ rows: RowBatch) throws {
        for chunk in rows.chunks {
            var index = 0
            while index < chunk.rowCount { try insert(chunk, from: &index, of: rows.count) }
        }
    }

    /// Inserts rows of a chunk as long as they are of one entity.
    ///
    /// - Parameter count: How many rows there are in all chunks.
    private mutating func insert(_ chunk: RowChunk, from index: inout Int, of count: Int) throws {
        let entityIndex = chunk.row(at: index).entityIndex
        var end = index + 1
        while end < chunk.rowCount, chunk.row(at: end).entityIndex == entityIndex { end += 1 }
        let insertion = layout.statements.insertion(of: layout.schema.model.entities[entityIndex])
        let blockCount = EntityInsertion.blockCount
        if count >= EntityInsertion.smallestSave, end - index >= blockCount, let block = insertion.block {
            try insert(chunk, from: &index, to: end, blockCount, with: block, insertion)
        }
        if index < end { try insert(chunk, from: &index, to: end, 1, with: insertion.single, insertion) }
    }

    /// Inserts rows of a chunk, `count` at a time, as long as there are that many before `end`.
    private mutating func insert(
        _ chunk: RowChunk,
        from index: inout Int,
        to end: Int,
        _ count: Int,
        with sql: SQLText,
        _ insertion: EntityInsertion
    ) throws {
        try connection.withStatement(sql) { statement in
            while end - index >= count {
                var parameter: Int32 = 1
                for position in index..<(index + count) {
                    try bind(chunk.row(at: position), insertion, to: statement, from: &parameter)
                }
                try statement.run()
                guard connection.changes == count else {
                    throw SealedStoreError.notWritten(entity: insertion.entity.name)
                }
                index += count
            }
        }
    }

    /// Binds the values of a row.
    @inline(__always)
    private mutating func bind(
        _ row: Row,
        _ insertion: EntityInsertion,
        to statement: borrowing Statement,
        from parameter: inout Int32
    ) throws {
        try statement.bind(row.key, at: parameter)
        try statement.bind(insertion.signedSlots.word(of: row), at: parameter + 1)
        parameter += 2
        if let code = insertion.code {
            try statement.bind(code, at: parameter)
            parameter += 1
        }
        for column in insertion.columns {
            try bind(row, column, of: insertion.entity, to: statement, at: parameter)
            parameter += 1
        }
    }

    /// Updates rows, those of one entity that follow each other and change the same slots with one statement.
    private mutating func update(_ request: SaveChangesRequest, _ conflicts: inout [ManagedObjectID]) throws {
        try vacateUniqueValues(of: request)
        var statements: [UpdateKey: UpdateStatement] = [:]
        var position = 0
        for chunk in request.updated.chunks {
            var index = 0
            while index < chunk.rowCount, position < request.updates.count {
                let update = request.updates[position]
                let key = UpdateKey(entityIndex: chunk.row(at: index).entityIndex, slots: update.slots)
                let entity = layout.schema.model.entities[key.entityIndex]
                let statement =
                    statements[key] ?? UpdateStatement(entity, layout.schema.table(of: entity), update.slots)
                statements[key] = statement
                try run(statement, key, of: entity, chunk, from: &index, request.updates, from: &position, &conflicts)
            }
        }
    }

    /// Updates rows of a chunk as long as the same statement does it.
    private mutating func run(
        _ update: UpdateStatement,
        _ key: UpdateKey,
        of entity: Entity,
        _ chunk: RowChunk,
        from index: inout Int,
        _ updates: [SaveChangesRequest.Update],
        from position: inout Int,
        _ conflicts: inout [ManagedObjectID]
    ) throws {
        let signedSlots = layout.statements.insertion(of: entity).signedSlots
        try connection.withStatement(update.sql) { statement in
            while index < chunk.rowCount, position < updates.count {
                let row = chunk.row(at: index)
                guard row.entityIndex == key.entityIndex, updates[position].slots == key.slots else { return }
                try statement.bind(signedSlots.word(of: row), at: 1)
                var parameter: Int32 = 2
                for column in update.columns {
                    try bind(row, column, of: entity, to: statement, at: parameter)
                    parameter += 1
                }
                try statement.bind(row.key, at: parameter)
                try statement.bind(Int64(updates[position].previousVersion), at: parameter + 1)
                try statement.run()
                if connection.changes != 1 { conflicts.append(id(entity, row.key)) }
                index += 1
                position += 1
            }
        }
    }

    /// Clears unique values that several objects change, so that they can pass from one to the other: SQLite checks them row
    /// by row.
    private func vacateUniqueValues(of request: SaveChangesRequest) throws {
        let entities = layout.schema.model.entities
        let haveUniqueValues = entities.map { !$0.uniquenessConstraints.isEmpty }
        guard request.updates.count > 1, haveUniqueValues.contains(true) else { return }
        let uniqueSlots: [SlotSet] = entities.map { entity in
            var slots = SlotSet()
            for slot in entity.uniquenessConstraints.joined() { slots.insert(slot) }
            return slots
        }
        var position = 0
        for chunk in request.updated.chunks {
            for index in 0..<chunk.rowCount {
                let row = chunk.row(at: index)
                guard position < request.updates.count else { return }
                if haveUniqueValues[row.entityIndex],
                    !uniqueSlots[row.entityIndex].isDisjoint(with: request.updates[position].slots)
                {
                    try vacateUniqueValues(of: row, entities[row.entityIndex], request.updates[position].slots)
                }
                position += 1
            }
        }
    }

    private func vacateUniqueValues(of row: Row, _ entity: Entity, _ changedSlots: SlotSet) throws {
        let table = layout.schema.table(of: entity)
        let slots = Set(entity.uniquenessConstraints.joined()).filter { changedSlots.contains($0) }
        for column in slots.sorted().compactMap({ table.column(of: entity.properties[$0]) }) {
            try connection.withStatement(#"UPDATE \#(table.name) SET \#(column.name) = NULL WHERE "_id" = ?"#) {
                try $0.bind(row.key, at: 1)
                try $0.run()
            }
        }
    }

    @inline(__always)
    private mutating func bind(
        _ row: Row,
        _ column: WrittenColumn,
        of entity: Entity,
        to statement: borrowing Statement,
        at index: Int32
    ) throws {
        try statement.bind(row, column.slot, at: index)
        guard column.isText, row.tag(at: column.slot) == .text,
            !row.withBytes(at: column.slot, TextForms.isComposed)
        else { return }
        mixedTexts.note(entity.properties[column.slot], of: entity, in: layout.schema)
    }

    private struct UpdateKey: Hashable {
        let entityIndex: Int
        let slots: SlotSet
    }

    /// The statement that writes some slots of a row, if it still has the version that was read.
    private struct UpdateStatement {
        let sql: SQLText
        let columns: [WrittenColumn]

        init(_ entity: Entity, _ table: EntityTable, _ slots: SlotSet) {
            let properties = entity.properties.filter { slots.contains($0.slot) && table.position(of: $0) != nil }
            let assignments =
                [#""_version" = ?"#] + properties.compactMap { table.column(of: $0).map { "\($0.name) = ?" } }
            sql = SQLText(
                """
                UPDATE \(table.name) SET \(assignments.joined(separator: ", ")) \
                WHERE "_id" = ? AND \(VersionWord.condition("?"))
                """
            )
            columns = properties.map(WrittenColumn.init)
        }
    }

    /// Deletes rows, and then clears what refers to them: much of that has been deleted by then.
    private func delete(_ deletions: [SaveChangesRequest.Deletion], _ conflicts: inout [ManagedObjectID]) throws {
        let groups = DeletedKeys.groups(of: deletions)
        let emptied = try emptyTables(groups)
        for group in groups where !emptied.contains(group.entity.rootIndex) {
            guard try delete(group) < group.keys.count else { continue }
            conflicts += try remainingKeys(of: group).map { id(group.entity, $0) }
        }
        for group in groups {
            let statements = layout.statements.deletion(from: group.entity, group.form)
            for clearing in statements.clearings {
                try connection.withStatement(clearing) { statement in
                    try group.bind(to: statement)
                    try statement.run()
                }
            }
        }
    }

    /// Deletes rows of one entity, as many as there are with the version that was read.
    private func delete(_ group: DeletedKeys) throws -> Int {
        let statements = layout.statements.deletion(from: group.entity, group.form)
        return try connection.withStatement(statements.delete) { statement in
            try group.bindWithVersion(to: statement)
            try statement.run()
            return connection.changes
        }
    }

    /// Empties the tables of which all rows are to be deleted and have the versions that were read: SQLite gives their pages
    /// up, which takes a fraction of the time that it takes to delete their rows.
    ///
    /// - Returns: the positions of the root entities of those tables.
    private func emptyTables(_ groups: [DeletedKeys]) throws -> Set<Int> {
        guard groups.contains(where: { $0.form == .range }) else { return [] }
        var emptied: Set<Int> = []
        for (rootIndex, groups) in Dictionary(grouping: groups, by: \.entity.rootIndex) {
            let root = layout.schema.model.entities[rootIndex]
            let table = layout.schema.table(of: root).name
            // Where there are triggers, rows are deleted one by one in any case.
            guard !layout.schema.hasTriggers(root), try areAllRows(groups, of: table) else { continue }
            try connection.withStatement("DELETE FROM \(table)") { try $0.run() }
            emptied.insert(rootIndex)
        }
        return emptied
    }

    /// Whether groups are all rows of a table, in the versions that were read.
    private func areAllRows(_ groups: [DeletedKeys], of table: String) throws -> Bool {
        guard let keys = DeletedKeys.wholeRange(of: groups) else { return false }
        // What is asked later goes through rows: of less than twice as many as there are keys, as the first question tells.
        let isWithin = try number(
            "SELECT NOT EXISTS (SELECT 1 FROM \(table) WHERE \"_id\" < ?1 OR \"_id\" > ?2)",
            .integer(keys.lowerBound),
            .integer(keys.upperBound)
        )
        let count = groups.reduce(0) { $0 + $1.keys.count }
        guard isWithin == 1, try number("SELECT count(*) FROM \(table)") == count else { return false }
        return try groups.allSatisfy { group in
            try connection.withStatement(layout.statements.deletion(from: group.entity, group.form).count) { query in
                try group.bindWithVersion(to: query)
                return try query.step() && query.integer(at: 0) == group.keys.count
            }
        }
    }

    /// The number that a statement answers with.
    private func number(_ sql: String, _ parameters: Value...) throws -> Int64 {
        try connection.withStatement(sql) { query in
            try query.bind(parameters)
            return try query.step() ? query.integer(at: 0) : 0
        }
    }

    /// The keys of rows that are still there.
    private func remainingKeys(of group: DeletedKeys) throws -> [Int64] {
        try connection.withStatement(layout.statements.deletion(from: group.entity, group.form).remaining) {
            statement in
            try group.bind(to: statement)
            var keys: [Int64] = []
            while try statement.step() { keys.append(statement.integer(at: 0)) }
            return keys
        }
    }

    private func id(_ entity: Entity, _ key: Int64) -> ManagedObjectID {
        ManagedObjectID(entity: entity, storeUUID: layout.uuid, key: key)
    }

    // MARK: Relationships

    private func apply(_ change: SaveChangesRequest.MembershipChange) throws {
        if let pairs = layout.schema.joinTables[change.relationship.index] {
            try run(
                "DELETE FROM \(pairs.name) WHERE \(pairs.owner) = ?1 AND \(pairs.member) = ?2",
                change.owner,
                change.removed
            )
            try run(
                "INSERT OR IGNORE INTO \(pairs.name) (\(pairs.owner), \(pairs.member)) VALUES (?1, ?2)",
                change.owner,
                change.added
            )
            if let position = pairs.position, let order = change.order {
                try number(
                    order,
                    with:
                        "UPDATE \(pairs.name) SET \(position) = ?1 WHERE \(pairs.owner) = ?2 AND \(pairs.member) = ?3",
                    owner: change.owner
                )
            }
        } else if let order = change.order,
            let position = layout.schema.table(of: change.relationship.destination).positionColumns[change.relationship]
        {
            let table = layout.schema.table(of: change.relationship.destination).name
            try number(
                order,
                with: "UPDATE \(table) SET \(position) = ?1 WHERE \"_id\" = ?3 AND ?2 > 0",
                owner: change.owner
            )
        }
    }

    private func run(_ sql: String, _ owner: Int64, _ members: [Int64]) throws {
        guard !members.isEmpty else { return }
        try connection.withStatement(sql) { statement in
            try statement.bind(owner, at: 1)
            for member in members {
                try statement.bind(member, at: 2)
                try statement.run()
            }
        }
    }

    /// Writes the positions of all members.
    private func number(_ order: [Int64], with sql: String, owner: Int64) throws {
        try connection.withStatement(sql) { statement in
            try statement.bind(owner, at: 2)
            for (position, member) in order.enumerated() {
                try statement.bind(Int64(position), at: 1)
                try statement.bind(member, at: 3)
                try statement.run()
            }
        }
    }
}

extension Statement {
    /// Binds a slot of a row without copying text and blobs: the row must live until the statement has run.
    @inline(__always)
    fileprivate func bind(_ row: Row, _ slot: Int, at index: Int32) throws {
        switch row.tag(at: slot) {
        case .null: try bindNull(at: index)
        case .integer: try bind(row.integer(at: slot), at: index)
        case .real: try bind(row.real(at: slot), at: index)
        case .text: try row.withBytes(at: slot) { try bind(staticText: $0, at: index) }
        case .blob: try row.withBytes(at: slot) { try bind(staticBlob: $0, at: index) }
        // Of an object that is inserted again: it must not be written as empty where it cannot be read.
        case .deferredBlob: try row.readBlob(at: slot).withUnsafeBytes { try bind(blob: $0, at: index) }
        case .omitted: preconditionFailure("a partial row is never saved")
        }
    }
}
