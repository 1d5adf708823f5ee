/// Computes the rows of a ``DictionaryFetchRequest`` from values of each object, as a store does: for unsaved changes,
/// which no store has.
struct DictionaryAggregation {
    private let request: DictionaryFetchRequest
    /// The expressions whose values are needed of each object.
    let inputs: [QueryExpression]

    /// The inputs of an object.
    struct Object {
        let key: Int64
        let values: [Value]

        /// Whether the object precedes another object with equal sort keys: new objects come last, and their keys count
        /// downwards.
        fileprivate func precedes(_ other: Object) -> Bool {
            if key < 0 || other.key < 0 { return other.key < key }
            return key < other.key
        }
    }

    init(_ request: DictionaryFetchRequest) {
        self.request = request
        let results =
            request.columns.map(\.expression) + request.sort.map(\.expression)
            + [request.havingPredicate].compactMap(\.self)
        let inputs =
            request.isAggregated
            ? request.propertiesToGroupBy + results.flatMap(\.aggregateArguments) : results
        var known: Set<QueryExpression> = []
        self.inputs = inputs.filter { known.insert($0).inserted }
    }

    /// The current values of an object.
    func object(_ object: any GraphObject) throws -> Object {
        let evaluator = QueryEvaluator()
        return Object(
            key: object.state.pointee.key,
            values: try inputs.map { try evaluator.value($0, for: object) }
        )
    }

    /// The rows for some objects, in any order.
    ///
    /// - Throws: ``QueryError``.
    func results(_ objects: [Object]) throws -> DictionaryResults {
        let objects = objects.sorted { $0.precedes($1) }
        var rows: [Row] = []
        for group in request.isAggregated ? groups(objects) : objects.map({ [$0] }) {
            if let having = request.havingPredicate, try !value(of: having, for: group).isTrue { continue }
            let values = try request.columns.map { try value(of: $0.expression, for: group) }
            let ranks = try request.sort.map { try value(of: $0.expression, for: group).rank(of: $0.expression) }
            rows.append(Row(values: values, ranks: ranks))
        }
        if request.returnsDistinctResults { rows = distinct(rows) }
        var results = DictionaryResults(for: request)
        for row in sorted(rows).dropFirst(request.offset).prefix(request.limit ?? .max) {
            try results.append(row.values)
        }
        return results
    }

    private struct Row {
        let values: [Value]
        /// The sort keys of the row.
        let ranks: [Value]
    }

    // MARK: Groups

    /// The groups of objects, in the order of the values that they are grouped by.
    private func groups(_ objects: [Object]) -> [[Object]] {
        if request.propertiesToGroupBy.isEmpty { return [objects] }
        let positions = request.propertiesToGroupBy.compactMap { inputs.firstIndex(of: $0) }
        var groups: [[Object]] = []
        var last: [Value] = []
        let ranked = objects.enumerated().map { offset, object in
            (offset: offset, ranks: positions.map { object.values[$0].rank(of: inputs[$0]) })
        }
        let sorted = ranked.sorted { left, right in
            let order = Self.compare(left.ranks[...], right.ranks[...])
            return order == 0 ? left.offset < right.offset : order < 0
        }
        for (offset, ranks) in sorted {
            if groups.isEmpty || Self.compare(last[...], ranks[...]) != 0 { groups.append([]) }
            groups[groups.count - 1].append(objects[offset])
            last = ranks
        }
        return groups
    }

    /// The value of an expression for a group; without grouping, a group is one object.
    private func value(of expression: QueryExpression, for group: [Object]) throws -> Value {
        try resolved(expression, for: group).constantValue
    }

    /// An expression in which the values of a group replace the aggregates and the grouped expressions.
    private func resolved(_ expression: QueryExpression, for group: [Object]) throws -> QueryExpression {
        if case .aggregate(let aggregate, let argument) = expression {
            guard let position = inputs.firstIndex(of: argument) else { throw QueryError.misplacedAggregate }
            let value = try aggregate.apply(group.map { $0.values[position] }, of: argument.resultType)
            return .literal(value).typed(as: expression.resultType)
        }
        if let position = inputs.firstIndex(of: expression),
            !request.isAggregated || position < request.propertiesToGroupBy.count
        {
            return .literal(group.first?.values[position] ?? .null).typed(as: expression.resultType)
        }
        switch expression {
        // An expression inside a collection belongs to its members.
        case .quantified, .aggregated: return expression
        default: return try expression.mapOperands { try resolved($0, for: group) }
        }
    }

    // MARK: Order

    private func distinct(_ rows: [Row]) -> [Row] {
        var distinct: [Row] = []
        let ranked = rows.enumerated().sorted { left, right in
            let order = Self.compare(left.element.values[...], right.element.values[...])
            return order == 0 ? left.offset < right.offset : order < 0
        }
        for (_, row) in ranked {
            if let last = distinct.last, Self.compare(last.values[...], row.values[...]) == 0 { continue }
            distinct.append(row)
        }
        return distinct
    }

    private func sorted(_ rows: [Row]) -> [Row] {
        if request.sort.isEmpty { return rows }
        return rows.enumerated().sorted { left, right in
            for (position, sort) in request.sort.enumerated() {
                if let precedes = sort.precedes(left.element.ranks[position], right.element.ranks[position]) {
                    return precedes
                }
            }
            return left.offset < right.offset
        }.map(\.element)
    }

    private static func compare(_ left: ArraySlice<Value>, _ right: ArraySlice<Value>) -> Int {
        for (left, right) in zip(left, right) {
            let order = left.compare(right)
            if order != 0 { return order }
        }
        return 0
    }
}

extension Value {
    /// The value by which an expression is ordered: the keys of new objects, which are negative and count downwards,
    /// follow the keys of saved objects, as after a save.
    fileprivate func rank(of expression: QueryExpression) -> Value {
        guard case .integer(let key) = self, key < 0, expression.isObjectKey else { return self }
        return .integer(1 << 62 - key)
    }
}

extension QueryExpression {
    /// Whether the value is the key of an object.
    fileprivate var isObjectKey: Bool {
        switch self {
        case .variable: true
        case .path(_, let path): if case .relationship? = path.last { true } else { false }
        case .conditional(_, let first, let second): first.isObjectKey || second.isObjectKey
        case .coalesce(let values): values.contains(where: \.isObjectKey)
        default: false
        }
    }

    /// The arguments of the aggregates in the expression.
    fileprivate var aggregateArguments: [QueryExpression] {
        if case .aggregate(_, let argument) = self { [argument] } else { operands.flatMap(\.aggregateArguments) }
    }
}
