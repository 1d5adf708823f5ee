import EncryptedSQLite
import ObjectGraph

extension OpenStore {
    /// Returns the rows that match a request, by one statement, or by several concurrent statements that each read a
    /// part.
    func fetch(_ request: FetchRequest, in generation: SnapshotGeneration?) throws -> RowBatch {
        if generation == nil, let rows = try fetchConcurrently(request) { return rows }
        let rows = try readWithWarnings { try fetch(request, in: generation, on: $0) }
        tableSizes.note(rows, for: request)
        return rows
    }

    /// Returns the identifiers of the objects that match a request.
    func fetchIDs(_ request: FetchRequest) throws -> [ManagedObjectID] {
        let table = schema.table(of: request.entity)
        let columns = #"t0."_id""# + (table.hasEntityColumn ? #", t0."_entity""# : "")
        return try readWithWarnings { connection in
            let statement = try FetchStatement(
                request,
                columns: columns,
                self,
                in: states.state(on: connection)
            )
            return try connection.withStatement(statement.sql, observer: scanMonitor(for: request)) { query in
                try statement.bind(to: query)
                var ids: [ManagedObjectID] = []
                var walk = KeyWalk(request.keyOrder)
                while try query.step() {
                    let id = try table.id(of: query, entityColumn: 1, storeUUID: uuid)
                    try walk.visit(id.key, of: query)
                    ids.append(id)
                }
                return ids
            }
        }
    }

    /// Returns the number of objects that match a request, within its limit and offset.
    func count(_ request: FetchRequest) throws -> Int {
        var request = request
        request.sort = []
        let isLimited = request.limit != nil || request.offset > 0
        return try readWithWarnings { connection in
            let statement = try FetchStatement(
                request,
                columns: isLimited ? "1" : "count(*)",
                // The number of rows within a limit is the same in every order.
                isOrdered: false,
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
    /// Returns the rows that match a request, by one statement.
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
            let largeValues = try largeValues(on: connection)
            try selection.readAll(
                query,
                into: &rows,
                order: request.keyOrder,
                largeValues,
                observer: connection.rowObserver
            )
            return rows.finish()
        }
    }

    /// The columns that a request reads.
    func selection(for request: FetchRequest) -> EntitySelection {
        guard !request.readsAllProperties else { return statements.selection(of: request.entity) }
        let properties = request.includesPropertyValues ? request.propertiesToFetch : []
        return EntitySelection(request.entity, schema.table(of: request.entity), only: Set(properties))
    }

    /// The builder for rows of a selection.
    func rowBuilder(
        for selection: EntitySelection,
        in generation: SnapshotGeneration?,
        readFailures: ReadFailures?
    ) -> RowBatchBuilder {
        // Rows without deferred values need no reference to a state of the store.
        guard selection.mayDefer else { return RowBatchBuilder(readFailures: readFailures) }
        let source = generation.map(deferredBlobs.pinned) ?? deferredBlobs
        return RowBatchBuilder(deferredValues: source, readFailures: readFailures)
    }
}

extension FetchRequest {
    /// The order of the rows of the request's statement.
    fileprivate var keyOrder: KeyOrder {
        sort.isEmpty && search == nil ? .ascending(after: predicate?.lowerKeyBound ?? 0) : .sorted
    }
}

extension QueryExpression {
    /// A key that is less than the keys of all objects for which the condition holds.
    fileprivate var lowerKeyBound: Int64 {
        switch self {
        case .comparison(.greater, .variable(0), .literal(.integer(let key))): key
        case .comparison(.greaterOrEqual, .variable(0), .literal(.integer(let key))): max(key, 1) - 1
        case .and(let conditions): conditions.reduce(0) { max($0, $1.lowerKeyBound) }
        default: 0
        }
    }
}
