import ObjectGraph

// Conditions by which an index finds the rows for which another condition may hold, which is then evaluated.

extension QueryGenerator {
    /// The consequences of a condition on the objects of an entity that can be looked up in an index.
    mutating func preselections(for condition: QueryExpression, of entity: Entity) -> [String] {
        guard schema.mayPreselect(from: entity) else { return [] }
        // A conjunct that may fail is evaluated for all rows, also for rows that later conjuncts exclude.
        let conjuncts = Array(condition.conjuncts.prefix { !$0.mayFail })
        var preselections = schema.coordinateIndexes(of: entity).compactMap { preselection(for: conjuncts, by: $0) }
        for index in schema.trigramIndexes(of: entity) {
            preselections += conjuncts.compactMap { preselection(for: $0, by: index) }
        }
        return preselections
    }

    // MARK: Ranges

    /// The rows whose coordinates may be in the ranges that the conditions set for all columns of an R*Tree.
    private mutating func preselection(for conditions: [QueryExpression], by index: CoordinateIndex) -> String? {
        var bounds: [String] = []
        var values: [Value] = []
        for (dimension, column) in index.indexed.columns.enumerated() {
            let ranges = conditions.flatMap { $0.bounds(of: column.property) }
            guard !ranges.isEmpty else { return nil }
            for (isLower, number) in ranges {
                let side = isLower ? CoordinateIndex.upperColumn(dimension) : CoordinateIndex.lowerColumn(dimension)
                bounds.append("\(side) \(isLower ? ">=" : "<=") ?")
                values.append(.real(CoordinateIndex.coordinate(number)))
            }
        }
        parameters += values
        return #"t0."_id" IN (SELECT id FROM \#(index.table) WHERE \#(bounds.joined(separator: " AND ")))"#
    }

    // MARK: Parts of texts

    /// The rows whose text may contain the text of a condition.
    private mutating func preselection(for condition: QueryExpression, by index: FullTextIndex) -> String? {
        guard case .function(let function, let arguments) = condition, arguments.count == 2,
            case .path(from: 0, let path) = arguments[0], path.count == 1, let position = index.position(of: path[0]),
            case .literal(.text(let part)) = arguments[1]
        else { return nil }
        let searchable: String? =
            switch function {
            case .contains, .startsWith, .endsWith: FoldableText.searchable(part, isFolding: false)
            case .localizedContains: FoldableText.searchable(part, isFolding: true)
            default: nil
            }
        guard let searchable else { return nil }
        // FTS5 quotes strings as SQL quotes identifiers.
        parameters.append(.text("\(FullTextIndex.column(position)) : \(SQL.quoted(searchable))"))
        return """
            t0."_id" IN (SELECT rowid FROM \(index.table) WHERE \(index.table) MATCH ? \
            UNION ALL SELECT "_id" FROM \(index.indexed.table) WHERE \(index.isUnfoldable(index.indexed.columns[position])))
            """
    }
}

extension StoreSchema {
    /// Whether an index may find the rows for constants of a condition on an entity.
    func mayPreselect(from entity: Entity) -> Bool {
        !coordinateIndexes(of: entity).isEmpty || !trigramIndexes(of: entity).isEmpty
    }

    fileprivate func trigramIndexes(of entity: Entity) -> [FullTextIndex] {
        fullTextIndexes(of: entity).filter { $0.options.tokenizer == .trigram }
    }
}

extension QueryExpression {
    /// The operands of the conjunction.
    fileprivate var conjuncts: [QueryExpression] {
        if case .and(let conditions) = self { conditions.flatMap(\.conjuncts) } else { [self] }
    }

    /// The bounds that a comparison with a constant sets for a property of the fetched object; the bound itself may be
    /// included or excluded.
    fileprivate func bounds(of property: Property) -> [(isLower: Bool, number: Double)] {
        guard case .comparison(let comparison, let left, let right) = self else { return [] }
        let path = QueryExpression.path(from: 0, [property])
        let isFlipped = right == path
        guard isFlipped || left == path, let number = (isFlipped ? left : right).number else { return [] }
        return switch comparison {
        case .greater, .greaterOrEqual: [(!isFlipped, number)]
        case .less, .lessOrEqual: [(isFlipped, number)]
        case .equal: [(true, number), (false, number)]
        case .notEqual: []
        }
    }

    private var number: Double? {
        switch self {
        case .literal(.integer(let integer)): Double(integer)
        case .literal(.real(let real)) where !real.isNaN: real
        default: nil
        }
    }
}
