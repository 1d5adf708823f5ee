import EncryptedSQLite
import ObjectGraph

extension OpenStore {
    /// Returns the rows of values of a request, by one statement.
    func fetchDictionaries(_ request: DictionaryFetchRequest) throws -> DictionaryResults {
        return try database.read { connection in
            let statement = try DictionaryStatement(request, self, in: states.state(on: connection))
            return try connection.withStatement(statement.sql) { query in
                try query.bind(statement.parameters)
                var results = DictionaryResults(for: request)
                let columns = 0..<query.columnCount
                while try query.step() {
                    try results.append(columns.map { statement.value(query.value(at: $0), ofColumn: $0) })
                    connection.rowObserver?.didReadRow()
                }
                return results
            }
        }
    }
}

/// The SELECT of a fetch of dictionaries.
struct DictionaryStatement {
    let sql: String
    /// The values of its parameters.
    let parameters: [Value]
    /// Whether a column has a text for NaN.
    private let marksNotANumber: [Bool]

    /// - Parameter state: The state of the file that the statement runs on.
    init(_ request: DictionaryFetchRequest, _ store: OpenStore, in state: FileState) throws {
        var generator = QueryGenerator(state.schema, root: request.entity)
        // The parts are generated in the order of the text, which is the order of their parameters.
        generator.allowsAggregates = true
        let columns = try request.columns.map { column in
            request.returnsDistinctResults
                ? try generator.ordered(column.expression) : try generator.column(column.expression)
        }
        marksNotANumber = request.columns.map { column in
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

    /// Returns the value of a column from that in a row of the statement.
    func value(_ value: Value, ofColumn column: Int32) -> Value {
        if marksNotANumber[Int(column)], case .text = value { .real(.nan) } else { value }
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
