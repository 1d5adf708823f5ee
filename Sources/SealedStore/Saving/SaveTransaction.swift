import EncryptedSQLite
import Foundation
import ObjectGraph

/// The statements of one save, on one connection.
///
/// Deletions come first and insertions last, so that a unique value can pass from one object to another. Written
/// references must have existing destinations, and no row may refer to a deleted one, regardless of the commits of
/// concurrent writers.
struct SaveTransaction {
    let connection: Connection
    let store: OpenStore
    /// Records the changes; nil if the file has no history.
    let history: HistoryRecorder?
    private var mixedTexts = MixedTexts()
    /// The table of large values; nil until it is needed.
    private var knownLargeValues: LargeValueTable?
    /// The rows that the save has changed and the request does not contain.
    var cleared = ClearedRows()
    /// Whether all optional references to deleted rows are cleared: another store has applied the delete rules.
    var clearsAllReferences = false

    init(_ connection: Connection, _ store: OpenStore, _ history: HistoryRecorder? = nil) {
        self.connection = connection
        self.store = store
        self.history = history
    }

    /// Writes all changes.
    ///
    /// - Parameter orders: Returns the orders of to-many relationships that depend on the members after all other
    ///   changes.
    /// - Throws: `SaveConflict` with every object that another writer changed or deleted, or with every dangling
    ///   reference.
    mutating func write(
        _ request: SaveChangesRequest,
        orders: () throws -> [SaveChangesRequest.MembershipChange] = { [] }
    ) throws {
        var conflicts: [ManagedObjectID] = []
        var deleted = DeletedKeys.groups(of: request.deleted)
        // The history has one deletion of an object, also if two contexts delete it.
        if history != nil { deleted = try deleted.flatMap(existing) }
        try history?.willWrite(request, deleted)
        try delete(deleted, &conflicts)
        try update(request, &conflicts)
        guard conflicts.isEmpty else { throw SaveConflict.outdated(conflicts) }
        // After the updates: members that now belong to other objects no longer deny the deletion of their previous
        // owners.
        if !deleted.isEmpty {
            try clearReferences(to: deleted, \.keyReferences)
            for group in deleted {
                try store.clearAsideReferences(to: group.entity, history, on: connection) {
                    group.form.condition($0)
                } binding: {
                    try group.bind(to: $0)
                }
            }
        }
        do {
            try insert(request.inserted)
        } catch DatabaseError.constraint(let violation) where violation.kind == .primaryKey {
            throw try conflict(of: violation, inserting: request.inserted)
        }
        try apply(request.memberships)
        if !deleted.isEmpty { try clearReferences(to: deleted, \.pairs) }
        try requireDestinations(of: request)
        try alignOneToOnes(of: request)
        let aligned = try alignSharedInverses(of: request)
        try requireMemberCounts(of: request)
        let memberships = try MemberNumbering(connection: connection, store: store)
            .number(request.memberships + aligned + orders(), of: request)
        try noteMixedTexts()
        try UniqueTexts(connection, store).require(request)
        guard let history else { return }
        var recorded = request
        recorded.memberships = memberships
        try history.didWrite(recorded, deleted)
    }

    /// Records the columns with texts in other forms.
    func noteMixedTexts() throws {
        if mixedTexts.columns.isEmpty { return }
        try TextForms.note(mixedTexts.columns, on: connection)
    }

    // MARK: Rows

    /// The error for rows whose keys the file has already.
    ///
    /// Two writers can insert a deleted object again at the same time. The version of such a row continues; the version
    /// of a new object is the first version, since its key was reserved and no other row can have it.
    private func conflict(of violation: ConstraintViolation, inserting rows: RowBatch) throws -> any Error {
        var present: [ManagedObjectID] = []
        for chunk in rows.chunks {
            for index in 0..<chunk.rowCount where chunk.row(at: index).version > 1 {
                let row = chunk.row(at: index)
                let entity = store.schema.model.entities[row.entityIndex]
                let sql = #"SELECT 1 FROM \#(store.schema.table(of: entity).name) WHERE "_id" = ?"#
                let exists = try connection.withStatement(sql) { statement in
                    try statement.bind(row.key, at: 1)
                    return try statement.step()
                }
                if exists { present.append(id(entity, row.key)) }
            }
        }
        return present.isEmpty ? DatabaseError.constraint(violation) : SaveConflict.outdated(present)
    }

    /// Inserts rows, with one statement for successive rows of one entity.
    mutating func insert(_ rows: RowBatch) throws {
        for chunk in rows.chunks {
            var index = 0
            while index < chunk.rowCount { try insert(chunk, from: &index, of: rows.count) }
        }
    }

    /// Inserts successive rows of a chunk that are of one entity.
    ///
    /// - Parameter count: The number of rows in all chunks.
    private mutating func insert(_ chunk: RowChunk, from index: inout Int, of count: Int) throws {
        let entityIndex = chunk.row(at: index).entityIndex
        var end = index + 1
        while end < chunk.rowCount, chunk.row(at: end).entityIndex == entityIndex { end += 1 }
        let insertion = store.statements.insertion(of: store.schema.model.entities[entityIndex])
        let blockCount = EntityInsertion.blockCount
        if count >= EntityInsertion.smallestSave, end - index >= blockCount, let block = insertion.block {
            try insert(chunk, from: &index, to: end, blockCount, with: block, insertion)
        }
        if index < end { try insert(chunk, from: &index, to: end, 1, with: insertion.single, insertion) }
    }

    /// Inserts rows of a chunk, `count` at a time, while there are that many before `end`.
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
        // By position: an iterator would retain the array for each row.
        for position in insertion.columns.indices {
            try bind(row, insertion.columns[position], of: insertion.entity, to: statement, at: parameter)
            parameter += 1
        }
    }

    /// Updates rows, with one statement for successive rows of one entity with the same changed slots.
    mutating func update(_ request: SaveChangesRequest, _ conflicts: inout [ManagedObjectID]) throws {
        try vacateUniqueValues(of: request)
        var position = 0
        for chunk in request.updated.chunks {
            var index = 0
            while index < chunk.rowCount, position < request.updates.count {
                let entity = store.schema.model.entities[chunk.row(at: index).entityIndex]
                let update = store.statements.update(of: entity, request.updates[position].slots)
                try run(update, chunk, from: &index, request.updates, from: &position, &conflicts)
            }
        }
    }

    /// Updates successive rows of a chunk that need the same statement.
    private mutating func run(
        _ update: EntityUpdate,
        _ chunk: RowChunk,
        from index: inout Int,
        _ updates: [SaveChangesRequest.Update],
        from position: inout Int,
        _ conflicts: inout [ManagedObjectID]
    ) throws {
        let entity = update.entity
        let signedSlots = store.statements.insertion(of: entity).signedSlots
        try connection.withStatement(update.sql) { statement in
            while index < chunk.rowCount, position < updates.count {
                let row = chunk.row(at: index)
                guard row.entityIndex == entity.index, updates[position].slots == update.slots else { return }
                if !update.referring.isEmpty || !update.unwritten.isEmpty { try replaceLargeValues(row, update) }
                try statement.bind(signedSlots.word(of: row), at: 1)
                var parameter: Int32 = 2
                for position in update.columns.indices {
                    try bind(row, update.columns[position], of: entity, to: statement, at: parameter)
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

    /// Clears unique values that several objects change, so that they can pass from one to another: SQLite checks them
    /// row by row.
    private func vacateUniqueValues(of request: SaveChangesRequest) throws {
        guard request.updates.count > 1 else { return }
        let entities = store.schema.model.entities
        let haveUniqueValues = entities.map { !$0.uniquenessConstraints.isEmpty }
        guard haveUniqueValues.contains(true) else { return }
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
        let table = store.schema.table(of: entity)
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
        if column.referring != nil, try bindLarge(row, column, to: statement, at: index) { return }
        try statement.bind(row, column.slot, at: index)
        guard column.isText, row.tag(at: column.slot) == .text,
            !row.withBytes(at: column.slot, TextForms.isComposed)
        else { return }
        noteMixedText(at: column.slot, of: entity)
    }

    // MARK: Large values

    /// Binds a reference in the place of a large value, which is added to the table of large values.
    ///
    /// - Returns: Whether the value is large, or has the form of a reference.
    @inline(never)
    private mutating func bindLarge(
        _ row: Row,
        _ column: WrittenColumn,
        to statement: borrowing Statement,
        at index: Int32
    ) throws -> Bool {
        let reference: LargeValueReference?
        switch row.tag(at: column.slot) {
        case .blob: reference = try row.withBytes(at: column.slot) { try storeLarge($0, column) }
        // The object is inserted again. A value that cannot be read must not be written as an empty value.
        case .deferredBlob:
            reference = try row.readBlob(at: column.slot).withUnsafeBytes { try storeLarge($0, column) }
        default: return false
        }
        guard let reference else { return false }
        try statement.bind(.blob(reference.data), at: index)
        return true
    }

    /// Adds a value to the table of large values if it is large, or has the form of a reference.
    private mutating func storeLarge(
        _ value: UnsafeRawBufferPointer,
        _ column: WrittenColumn
    ) throws -> LargeValueReference? {
        let isLarge = column.hasLargeValues && value.count > EntitySelection.deferralLimit
        // Also in a file without the table: a later value of the same statement may create the table.
        guard isLarge || LargeValueReference(value) != nil else { return nil }
        return try largeValues().insert(value)
    }

    /// The table of large values, which is created if the file has none.
    private mutating func largeValues() throws -> LargeValueTable {
        if let knownLargeValues { return knownLargeValues }
        let table =
            try store.largeValues(on: connection)
            ?? LargeValueTable.create(StoreSchema(ofFileOf: connection), on: connection)
        knownLargeValues = table
        return table
    }

    /// Deletes the large values that an update replaces, and moves the other large values of the row out of it: the row
    /// is written in any case.
    private mutating func replaceLargeValues(_ row: Row, _ update: EntityUpdate) throws {
        let key = row.key
        if !update.referring.isEmpty, let table = try store.largeValues(on: connection) {
            try table.delete(referredToBy: update.referring, of: #"\#(update.table.name) WHERE "_id" = ?1"#) {
                try $0.bind(key, at: 1)
            }
        }
        for column in update.unwritten where row.tag(at: column.slot) == .deferredBlob {
            guard let referring = column.referring, !row.isStoredApart(at: column.slot) else { continue }
            let sql = """
                SELECT 1 FROM \(update.table.name) WHERE "_id" = ?1 \
                AND length(\(referring.name)) > \(EntitySelection.deferralLimit)
                """
            let isInRow = try connection.withStatement(sql) { statement in
                try statement.bind(key, at: 1)
                return try statement.step()
            }
            if isInRow { try largeValues().move(referring, of: update.table, where: "\"_id\" = \(key)") }
        }
    }

    @inline(never)
    private mutating func noteMixedText(at slot: Int, of entity: Entity) {
        mixedTexts.note(entity.properties[slot], of: entity, in: store.schema)
    }

    func id(_ entity: Entity, _ key: Int64) -> ManagedObjectID {
        ManagedObjectID(entity: entity, storeUUID: store.uuid, key: key)
    }
}
