import EncryptedSQLite
import ObjectGraph

extension OpenStore {
    /// The rows that fit a request: one statement, or several at once that read a part each.
    func fetch(_ request: FetchRequest, in generation: SnapshotGeneration?) throws -> RowBatch {
        if generation == nil, let rows = try fetchConcurrently(request) { return rows }
        let rows = try database.read { try fetch(request, in: generation, on: $0) }
        tableSizes.note(rows, for: request)
        return rows
    }

    /// The identifiers of the objects that fit a request.
    func fetchIDs(_ request: FetchRequest) throws -> [ManagedObjectID] {
        let table = schema.table(of: request.entity)
        let columns = #"t0."_id""# + (table.hasEntityColumn ? #", t0."_entity""# : "")
        return try database.read { connection in
            let statement = try FetchStatement(
                request,
                columns: columns,
                self,
                in: states.state(on: connection)
            )
            return try connection.withStatement(statement.sql, observer: scanMonitor(for: request)) { query in
                try statement.bind(to: query)
                var ids: [ManagedObjectID] = []
                while try query.step() {
                    ids.append(try table.id(of: query, entityColumn: 1, storeUUID: uuid))
                }
                return ids
            }
        }
    }

    /// How many objects fit a request; limit and offset count.
    func count(_ request: FetchRequest) throws -> Int {
        var request = request
        request.sort = []
        let isLimited = request.limit != nil || request.offset > 0
        return try database.read { connection in
            let statement = try FetchStatement(
                request,
                columns: isLimited ? "1" : "count(*)",
                isOrdered: isLimited,
                self,
                in: states.state(on: connection)
            )
            let sql = isLimited ? SQLText("SELECT count(*) FROM (\(statement.sql.text))") : statement.sql
            return try connection.withStatement(sql, observer: scanMonitor(for: request)) { query in
                try statement.bind(to: query)
                return try query.step() ? Int(query.integer(at: 0)) : 0
            }
        }
    }
}

extension OpenStore {
    /// The rows that fit a request.
    func fetch(
        _ request: FetchRequest,
        in generation: SnapshotGeneration?,
        on connection: Connection
    ) throws -> RowBatch {
        let selection = selection(for: request)
        let statement = try FetchStatement(
            request,
            columns: selection.columns,
            self,
            in: states.state(on: connection)
        )
        return try connection.withStatement(statement.sql, observer: scanMonitor(for: request)) { query in
            try statement.bind(to: query)
            var rows = rowBuilder(for: selection, in: generation, readFailures: request.readFailures)
            try selection.readAll(query, into: &rows, observer: connection.rowObserver)
            return rows.finish()
        }
    }

    /// The columns that a request reads.
    func selection(for request: FetchRequest) -> EntitySelection {
        guard !request.readsAllProperties else { return statements.selection(of: request.entity) }
        let properties = request.includesPropertyValues ? request.propertiesToFetch : []
        return EntitySelection(request.entity, schema.table(of: request.entity), only: Set(properties))
    }

    /// What rows of a selection are written with.
    func rowBuilder(
        for selection: EntitySelection,
        in generation: SnapshotGeneration?,
        readFailures: ReadFailures?
    ) -> RowBatchBuilder {
        // Rows that leave nothing in the store need not keep a state of it.
        guard selection.mayDefer else { return RowBatchBuilder(readFailures: readFailures) }
        let source = generation.map(deferredBlobs.pinned) ?? deferredBlobs
        return RowBatchBuilder(deferredValues: source, readFailures: readFailures)
    }
}
