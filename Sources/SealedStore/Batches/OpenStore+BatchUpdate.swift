import EncryptedSQLite
import ObjectGraph

extension OpenStore {
    /// Changes the rows that match a batch request, in one transaction.
    func update(_ request: BatchUpdateRequest, author: String?) throws -> BatchChanges {
        do {
            return try writeTransaction { connection in
                let history = try HistoryRecorder.begin(connection, self, author: author)
                let changes = try BatchUpdate(request, connection, self).run(history)
                _ = try history?.finish()
                return changes
            }
        } catch DatabaseError.constraint(let violation) where violation.kind == .dataType {
            // The types of all values were checked, so the value is an integer that overflowed: SQLite has converted it
            // to a real.
            throw QueryError.arithmeticOverflow
        }
    }
}

/// The statements of one batch update, on one connection.
private struct BatchUpdate {
    private let request: BatchUpdateRequest
    private let connection: Connection
    private let store: OpenStore
    private let assignments: [(property: Property, value: QueryExpression)]

    init(_ request: BatchUpdateRequest, _ connection: Connection, _ store: OpenStore) throws {
        self.request = request
        self.connection = connection
        self.store = store
        assignments = try request.assignments()
    }

    func run(_ history: HistoryRecorder?) throws -> BatchChanges {
        var changes = BatchChanges()
        guard !assignments.isEmpty else { return changes }
        let keys = try BatchKeys(connection)
        let selection = try request.fetchRequest.keySelection(store, on: connection)
        try keys.insert(selection.sql.text, selection.parameters)
        try history?.willUpdate(keys, of: request.entity, assignments.map(\.property))
        try write()
        for (property, value) in assignments {
            if case .literal = value {} else { try requireValid(property) }
            guard case .relationship(let relationship) = property else { continue }
            try BatchDestinations(relationship, store).require(
                on: connection,
                where: #"t0."_id" IN (\#(BatchKeys.keys(of: request.entity)))"#
            )
            changes.relationships.append(relationship)
        }
        let updated = try keys.keys(of: request.entity)
        try UniqueTexts(connection, store).require(updated, of: request.entity)
        changes.updated = [BatchChanges.Keys(entity: request.entity, keys: updated)]
        try history?.didUpdate(updated, of: request.entity, assignments.map(\.property))
        try keys.clear()
        return changes
    }

    private func write() throws {
        let table = store.schema.table(of: request.entity)
        let written = assignments.compactMap { table.column(of: $0.property) }
        let columns = written.map(\.name)
        // Read in the state before the update, from which the written values are computed.
        let state = try store.states.state(on: connection)
        var generator = QueryGenerator(state.schema, root: request.entity)
        var mixedTexts = MixedTexts()
        for assignment in assignments where generator.textForm(of: assignment.value) == .mixed {
            mixedTexts.note(assignment.property, of: request.entity, in: store.schema)
        }
        try TextForms.note(mixedTexts.columns, on: connection)
        let values = try assignments.map { try generator.value($0.value) }
        let isInBatch = #"t0."_id" IN (\#(BatchKeys.keys(of: request.entity)))"#
        let version = VersionWord.increment(writing: written)
        let sql: String
        if assignments.contains(where: { $0.value.looksBeyondObject }) {
            // All values are computed before the first is written, since a value may depend on another row.
            let list = values.enumerated().map { "\($1) AS v\($0)" }.joined(separator: ", ")
            let settings = columns.enumerated().map { "\($1) = s.v\($0)" } + [version]
            sql = """
                UPDATE \(table.name) SET \(settings.joined(separator: ", ")) \
                FROM (SELECT t0."_id" AS "key", \(list) \(generator.fromClause) WHERE \(isInBatch)) AS s \
                WHERE \(table.name)."_id" = s."key"
                """
        } else {
            let settings = zip(columns, values).map { "\($0) = \($1)" } + [version]
            sql = "UPDATE \(table.name) AS t0 SET \(settings.joined(separator: ", ")) WHERE \(isInBatch)"
        }
        let referring = written.filter(\.mayRefer)
        let rows = #""_id" IN (\#(BatchKeys.keys(of: request.entity)))"#
        // The old large values are deleted after the update, since new values may be computed from them.
        let replaced =
            try referring.isEmpty
            ? nil
            : store.largeValues(on: connection)?.references(in: referring, of: "\(table.name) WHERE \(rows)")
        try connection.withStatement(sql) { statement in
            try statement.bind(generator.values)
            try statement.run()
        }
        guard !referring.isEmpty else { return }
        let unique = Set(request.entity.uniquenessConstraints.joined().map { request.entity.properties[$0] })
        let large = referring.filter { $0.isDeferrable && !unique.contains($0.property) }
        try LargeValueTable.moveWritten(referring, large, of: table, where: rows, store, on: connection)
        if let replaced { try LargeValueTable(connection: connection).delete(replaced) }
    }

    /// Checks that the property can have its computed values.
    private func requireValid(_ property: Property) throws {
        let table = store.schema.table(of: request.entity)
        guard property.restrictsValues, let column = table.column(of: property)?.name else { return }
        let sql = """
            SELECT t0."_id", t0.\(column) FROM \(table.name) AS t0 \
            WHERE t0."_id" IN (\(BatchKeys.keys(of: request.entity))) ORDER BY t0."_id"
            """
        try connection.withStatement(sql) { statement in
            var problems: [ObjectGraphError.ValidationProblem] = []
            while problems.count < batchProblemLimit, try statement.step() {
                guard let reason = property.problem(of: statement.value(at: 1)) else { continue }
                let id = ManagedObjectID(entity: request.entity, storeUUID: store.uuid, key: statement.integer(at: 0))
                problems.append(.init(id: id, property: property.name, reason: reason))
            }
            guard problems.isEmpty else { throw ObjectGraphError.validation(problems) }
        }
    }
}

extension QueryExpression {
    /// Whether the value depends on objects other than the object for which it is computed.
    fileprivate var looksBeyondObject: Bool {
        switch self {
        case .path(_, let path): path.count > 1
        case .quantified(_, .members, _, _), .aggregated(_, .members, _, _, _): true
        default: operands.contains(where: \.looksBeyondObject)
        }
    }
}
