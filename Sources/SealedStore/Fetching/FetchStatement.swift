import EncryptedSQLite
import ObjectGraph

/// The SELECT of a fetch.
struct FetchStatement {
    let sql: SQLText
    /// The values of its parameters.
    let parameters: [Value]

    init(_ request: FetchRequest, columns: String, isOrdered: Bool = true, _ layout: SealedStore.Layout) throws {
        let shape = request.predicate.map(QueryShape.init)
        let end = SQL.limit(request.limit, offset: request.offset)
        let key = FetchStatementCache.Key(
            entityIndex: request.entity.index,
            includesSubentities: request.includesSubentities,
            columns: columns,
            shape: shape,
            sort: isOrdered ? request.sort : [],
            isOrdered: isOrdered,
            end: end.text,
            formCount: layout.schema.textForms.count
        )
        let prepared = try layout.fetchStatements.statement(for: key) {
            try Prepared(request, shape?.template, columns: columns, isOrdered: isOrdered, end.text, layout)
        }
        sql = prepared.sql
        let constants = shape?.constants ?? []
        parameters = prepared.parameters.map { $0.value(in: constants) } + end.parameters
    }

    /// The statement of all requests that differ in constants only.
    struct Prepared {
        let sql: SQLText
        /// The parameters without those of the limit.
        let parameters: [QueryParameter]

        fileprivate init(
            _ request: FetchRequest,
            _ predicate: QueryExpression?,
            columns: String,
            isOrdered: Bool,
            _ end: String,
            _ layout: SealedStore.Layout
        ) throws {
            var generator = QueryGenerator(layout.schema, root: request.entity)
            let selection = layout.statements.selection(of: request.entity)
            var conditions: [String] = []
            if let condition = selection.condition(includesSubentities: request.includesSubentities) {
                conditions.append(condition)
            }
            if let predicate { conditions.append(try generator.condition(predicate, mayBeNull: true)) }
            var order: [String] = []
            if isOrdered {
                for sort in request.sort { order.append(try generator.term(sort)) }
                order.append(#"t0."_id""#)
            }

            var sql = "SELECT \(columns) \(generator.fromClause)"
            if !conditions.isEmpty { sql += " WHERE \(conditions.joined(separator: " AND "))" }
            if isOrdered { sql += " ORDER BY \(order.joined(separator: ", "))" }
            self.sql = SQLText(sql + end)
            parameters = generator.parameters
        }
    }
}
