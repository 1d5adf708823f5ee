extension DictionaryFetchRequest {
    /// The request in the form that stores take: unambiguous, and without negative numbers.
    ///
    /// - Throws: ``QueryError``.
    func validated() throws(QueryError) -> DictionaryFetchRequest {
        try validate()
        var request = self
        request.limit = limit.map { max($0, 0) }
        request.offset = max(offset, 0)
        return request
    }

    /// Checks that every value is unambiguous. SQLite itself accepts an ambiguous request, and chooses a row.
    ///
    /// - Throws: ``QueryError``.
    private func validate() throws(QueryError) {
        var names: Set<String> = []
        for column in columns where !names.insert(column.name).inserted {
            throw .duplicateColumn(column.name)
        }
        for expression in propertiesToGroupBy + [predicate].compactMap(\.self) where expression.containsAggregate {
            throw .misplacedAggregate
        }
        let results = columns.map(\.expression) + sort.map(\.expression) + [havingPredicate].compactMap(\.self)
        for expression in results { try checkAggregates(in: expression) }
        if isAggregated {
            for expression in results { try requireOneValueForEachGroup(expression) }
        } else if havingPredicate != nil {
            throw .havingWithoutGroups
        }
        if returnsDistinctResults {
            let fetched = Set(columns.map(\.expression))
            for sort in sort where !fetched.contains(sort.expression) { throw .sortedByUnfetchedValue }
        }
    }

    /// Rejects aggregates of aggregates, also in the condition on members of a relationship, and sums of values that
    /// cannot be added.
    private func checkAggregates(in expression: QueryExpression) throws(QueryError) {
        switch expression {
        case .aggregate(let aggregate, let argument):
            if argument.containsAggregate { throw .misplacedAggregate }
            let isSummable = argument.resultType?.isSummable ?? !argument.hasConflictingTypes
            if [.sum, .average].contains(aggregate), !isSummable {
                throw .notSummable(aggregate)
            }
        case .quantified(_, _, _, let condition), .aggregated(_, _, _, _, let condition):
            if condition.containsAggregate { throw .misplacedAggregate }
        default:
            for operand in expression.operands { try checkAggregates(in: operand) }
        }
    }

    private func requireOneValueForEachGroup(_ expression: QueryExpression) throws(QueryError) {
        if propertiesToGroupBy.contains(expression) { return }
        switch expression {
        case .literal, .parameter, .aggregate: return
        case .path(_, let path), .quantified(_, .members(_, let path), _, _),
            .aggregated(_, .members(_, let path), _, _, _):
            throw .notGrouped(path.last?.name ?? entity.name)
        case .variable, .element, .isKind: throw .notGrouped(entity.name)
        default:
            for operand in expression.operands { try requireOneValueForEachGroup(operand) }
        }
    }
}
