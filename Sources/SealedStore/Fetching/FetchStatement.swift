import EncryptedSQLite
import ObjectGraph

/// The SELECT of a fetch.
struct FetchStatement {
    private let prepared: Prepared
    /// The constants of the request, which ``prepared`` does not contain.
    private let constants: [Value]
    /// The values of the parameters of the limit.
    private let endParameters: [Value]

    /// The SQL text.
    var sql: SQLText { prepared.sql }

    /// The values of its parameters.
    var parameters: [Value] { prepared.parameters.map { $0.value(in: constants) } + endParameters }

    /// - Parameter state: The state of the file that the statement runs on.
    init(
        _ request: FetchRequest,
        columns: String,
        isOrdered: Bool = true,
        _ store: OpenStore,
        in state: FileState
    ) throws {
        let end = SQL.limit(request.limit, offset: request.offset)
        endParameters = end.parameters
        if state.dependsOnConstants(request) {
            prepared = try Prepared(request, request.predicate, columns, isOrdered, end.text, store, state)
            constants = []
        } else {
            let shape = request.predicate.map(QueryShape.init)
            let key = FetchStatementCache.Key(
                entityIndex: request.entity.index,
                hasSubentities: request.includesSubentities,
                columns: columns,
                shape: shape,
                sort: isOrdered ? request.sort : [],
                hasOrder: isOrdered,
                end: end.text
            )
            prepared = try state.fetchStatements.statement(for: key) {
                try Prepared(request, shape?.template, columns, isOrdered, end.text, store, state)
            }
            constants = shape?.constants ?? []
        }
    }

    /// Binds the values of the parameters.
    func bind(to statement: borrowing Statement) throws {
        var index: Int32 = 1
        for parameter in prepared.parameters {
            try statement.bind(parameter.value(in: constants), at: index)
            index += 1
        }
        try statement.bind(endParameters, from: index)
    }

    /// The statement of all requests that differ in constants only.
    final class Prepared: Sendable {
        let sql: SQLText
        /// The parameters without the parameters of the limit.
        let parameters: [QueryParameter]

        fileprivate init(
            _ request: FetchRequest,
            _ predicate: QueryExpression?,
            _ columns: String,
            _ isOrdered: Bool,
            _ end: String,
            _ store: OpenStore,
            _ state: FileState
        ) throws {
            var generator = QueryGenerator(state.schema, root: request.entity)
            let selection = store.statements.selection(of: request.entity)
            var conditions: [String] = []
            if let condition = selection.condition(includesSubentities: request.includesSubentities) {
                conditions.append(condition)
            }
            let search = try request.search.map { try SearchSource($0, of: request.entity, state.schema) }
            if let search {
                conditions += search.conditions
                generator.parameters += search.parameters
            }
            if let predicate = search?.predicate(with: predicate) ?? predicate {
                conditions += generator.preselections(for: predicate, of: request.entity)
                conditions.append(try generator.condition(predicate, mayBeNull: true))
            }
            var order: [String] = []
            if isOrdered {
                if request.sort.isEmpty, let search, let best = search.order {
                    order.append(best)
                    generator.parameters += search.relevanceParameters
                }
                for sort in request.sort { order.append(try generator.term(sort)) }
                order.append(#"t0."_id""#)
            }

            var sql = "SELECT \(columns) \(generator.fromClause(searching: search))"
            if !conditions.isEmpty { sql += " WHERE \(conditions.joined(separator: " AND "))" }
            if isOrdered { sql += " ORDER BY \(order.joined(separator: ", "))" }
            self.sql = SQLText(sql + end)
            parameters = generator.parameters
        }
    }
}

extension FileState {
    /// Whether a request's statement depends on its constants: on the constants of a search, on constants that an index
    /// preselects, and on the constants of a long list, which requests rarely share and a cache should not keep.
    fileprivate func dependsOnConstants(_ request: FetchRequest) -> Bool {
        request.search != nil || schema.mayPreselect(from: request.entity)
            || request.predicate?.hasLongList ?? false
    }
}

extension QueryExpression {
    /// Whether the expression contains a list of more than 16 constants.
    fileprivate var hasLongList: Bool {
        switch self {
        case .isMember(let element, let values): values.count > 16 || element.hasLongList
        case .comparison(_, let left, let right): left.hasLongList || right.hasLongList
        case .literal, .parameter, .variable, .element, .path, .isKind: false
        default: operands.contains(where: \.hasLongList)
        }
    }
}
