import EncryptedSQLite
import ObjectGraph

extension OpenStore {
    /// Returns the rows of values of a request.
    ///
    /// SQL has one NULL for "no value" and NaN, and to tell them apart slows an aggregate of all rows by a fifth. The
    /// statement does so only if there is a NULL that may be NaN.
    func fetchDictionaries(_ request: DictionaryFetchRequest) throws -> DictionaryResults {
        try database.read { connection in
            let state = try states.state(on: connection)
            for marksNotANumber in [false, true] {
                let statement = try DictionaryStatement(request, self, in: state, marksNotANumber: marksNotANumber)
                if let results = try fetch(request, statement, on: connection) { return results }
            }
            preconditionFailure("A statement that marks NaN has no ambiguous NULL.")
        }
    }

    /// Returns the rows of a statement; nil if it does not mark NaN, and a NULL may be NaN.
    private func fetch(
        _ request: DictionaryFetchRequest,
        _ statement: DictionaryStatement,
        on connection: Connection
    ) throws -> DictionaryResults? {
        try connection.withStatement(statement.sql) { query in
            try query.bind(statement.parameters)
            var results = DictionaryResults(for: request)
            while try query.step() {
                var values: [Value] = []
                values.reserveCapacity(Int(query.columnCount))
                for column in 0..<query.columnCount {
                    guard let value = statement.value(query.value(at: column), ofColumn: column) else { return nil }
                    values.append(value)
                }
                try results.append(values)
                connection.rowObserver?.didReadRow()
            }
            return results
        }
    }
}

/// The SELECT of a fetch of dictionaries.
struct DictionaryStatement {
    let sql: String
    /// The values of its parameters.
    let parameters: [Value]
    /// Whether a value of a column may be NaN.
    private let mayBeNotANumber: [Bool]
    /// Whether these columns have a text for NaN.
    private let marksNotANumber: Bool

    /// - Parameters:
    ///   - state: The state of the file that the statement runs on.
    ///   - marksNotANumber: Whether columns distinguish NaN from "no value".
    init(
        _ request: DictionaryFetchRequest,
        _ store: OpenStore,
        in state: FileState,
        marksNotANumber: Bool
    ) throws {
        self.marksNotANumber = marksNotANumber
        var generator = QueryGenerator(state.schema, root: request.entity)
        // The parts are generated in the order of the text, which is the order of their parameters.
        generator.allowsAggregates = true
        let columns = try request.columns.map { column in
            if request.returnsDistinctResults { return try generator.ordered(column.expression) }
            return try marksNotANumber ? generator.column(column.expression) : generator.value(column.expression)
        }
        mayBeNotANumber = request.columns.map { column in
            !request.returnsDistinctResults && QueryGenerator.marksNotANumber(column.expression)
        }
        generator.allowsAggregates = false
        var conditions: [String] = []
        if let condition = store.statements.selection(of: request.entity)
            .condition(includesSubentities: request.includesSubentities)
        {
            conditions.append(condition)
        }
        if let predicate = request.predicate {
            conditions += generator.preselections(for: predicate, of: request.entity)
            conditions.append(try generator.condition(predicate, mayBeNull: true))
        }
        let groups = try request.propertiesToGroupBy.map { Self.term(try generator.ordered($0)) }
        generator.allowsAggregates = true
        let having = try request.havingPredicate.map { try generator.condition($0, mayBeNull: true) }
        let order = try Self.order(of: request, columnCount: columns.count, &generator)

        var sql = "SELECT \(request.returnsDistinctResults ? "DISTINCT " : "")\(columns.joined(separator: ", "))"
        sql += " \(generator.fromClause)"
        if !conditions.isEmpty { sql += " WHERE \(conditions.joined(separator: " AND "))" }
        if !groups.isEmpty { sql += " GROUP BY \(groups.joined(separator: ", "))" }
        if let having { sql += " HAVING \(having)" }
        if !order.isEmpty { sql += " ORDER BY \(order.joined(separator: ", "))" }
        let end = SQL.limit(request.limit, offset: request.offset)
        self.sql = sql + end.text
        parameters = generator.values + end.parameters
    }

    /// Returns the value of a column for the value in a row of the statement; nil for a NULL that may be NaN.
    func value(_ value: Value, ofColumn column: Int32) -> Value? {
        guard mayBeNotANumber[Int(column)] else { return value }
        switch value {
        case .text where marksNotANumber: return .real(.nan)
        case .null where !marksNotANumber: return nil
        default: return value
        }
    }

    /// The sort keys, followed by terms that make the order total.
    private static func order(
        of request: DictionaryFetchRequest,
        columnCount: Int,
        _ generator: inout QueryGenerator
    ) throws -> [String] {
        var order: [String] = []
        for sort in request.sort {
            order.append(try generator.term(sort))
        }
        if request.returnsDistinctResults {
            order += (1...columnCount).map(String.init)
        } else if request.isAggregated {
            order += try request.propertiesToGroupBy.map { term(try generator.ordered($0)) }
        } else {
            order.append(#"t0."_id""#)
        }
        return order
    }

    /// A value as a term of GROUP BY or ORDER BY, in which a plain number would be the position of a column.
    private static func term(_ value: String) -> String { Int(value) == nil ? value : "NULL" }
}
