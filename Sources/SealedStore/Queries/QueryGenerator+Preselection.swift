import ObjectGraph

// Conditions that let an index find the rows that may fulfil another condition, which then decides.

extension QueryGenerator {
    /// What follows from a condition on the objects of an entity and can be looked up in an index.
    mutating func preselections(for condition: QueryExpression, of entity: Entity) -> [String] {
        guard schema.mayPreselect(from: entity) else { return [] }
        // What may fail fails for rows, too, that what stands behind it does not let through.
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

    /// The rows whose text may contain what a condition asks for.
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
        parameters.append(.text("\(FullTextIndex.column(position)) : \"\(searchable.replacing("\"", with: "\"\""))\""))
        return """
            t0."_id" IN (SELECT rowid FROM \(index.table) WHERE \(index.table) MATCH ? \
            UNION ALL SELECT "_id" FROM \(index.indexed.table) WHERE \(index.isUnfoldable(index.indexed.columns[position])))
            """
    }
}

extension StoreSchema {
    /// Whether an index may find the rows for constants that a condition on an entity has.
    func mayPreselect(from entity: Entity) -> Bool {
        !coordinateIndexes(of: entity).isEmpty || !trigramIndexes(of: entity).isEmpty
    }

    fileprivate func trigramIndexes(of entity: Entity) -> [FullTextIndex] {
        fullTextIndexes(of: entity).filter { $0.options.tokenizer == .trigram }
    }
}

extension QueryExpression {
    /// The conditions that have to be true all.
    fileprivate var conjuncts: [QueryExpression] {
        if case .and(let conditions) = self { conditions.flatMap(\.conjuncts) } else { [self] }
    }

    /// The bounds that a comparison with a constant sets for a property of the fetched object; the number itself may be in
    /// or out.
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
