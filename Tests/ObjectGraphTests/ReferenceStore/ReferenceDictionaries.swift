import Foundation
import ObjectGraph

/// Computes rows of values over records: aggregates in loops, and everything else by ``ReferenceQuery``.
struct ReferenceDictionaries {
    let query: ReferenceQuery
    let request: DictionaryFetchRequest

    /// Returns the rows of a request for the keys that satisfy its predicate, which are ascending.
    func rows(_ keys: [Int64]) throws -> [[Value]] {
        let root = request.entity.rootName
        let objects = keys.map { ReferenceQuery.Object(root, $0) }
        var ranked: [(row: [Value], sort: [Value], tie: [Value])] = []
        for group in try groups(objects) {
            // A group without objects has values for aggregates only.
            let first = group.first ?? (root, 0)
            let evaluate = { (expression: QueryExpression) in
                try query.value(resolve(expression, group), [first])
            }
            if let having = request.havingPredicate, try !query.isTrue(resolve(having, group), [first]) { continue }
            let row = try request.columns.map { try evaluate($0.expression) }
            let tie =
                request.returnsDistinctResults
                ? row : request.isAggregated ? try request.propertiesToGroupBy.map(evaluate) : [.integer(first.key)]
            ranked.append((row, try request.sort.map { try evaluate($0.expression) }, tie))
        }
        ranked.sort { left, right in
            for (position, sort) in request.sort.enumerated() {
                let order = ReferenceQuery.order(left.sort[position], right.sort[position])
                if order != 0 { return sort.ascending ? order < 0 : order > 0 }
            }
            return zip(left.tie, right.tie).map(ReferenceQuery.order).first { $0 != 0 } ?? 0 < 0
        }
        var rows = ranked.map(\.row)
        if request.returnsDistinctResults {
            var seen: Set<[Value]> = []
            rows = rows.filter { seen.insert($0).inserted }
        }
        return Array(rows.dropFirst(request.offset).prefix(request.limit ?? .max))
    }

    private func groups(_ objects: [ReferenceQuery.Object]) throws -> [[ReferenceQuery.Object]] {
        guard request.isAggregated else { return objects.map { [$0] } }
        if request.propertiesToGroupBy.isEmpty { return [objects] }
        return try Array(
            Dictionary(grouping: objects) { object in
                try request.propertiesToGroupBy.map { try query.value($0, [object]) }
            }.values
        )
    }

    /// An expression with its aggregates replaced by their values.
    private func resolve(_ expression: QueryExpression, _ group: [ReferenceQuery.Object]) throws -> QueryExpression {
        let resolve = { (part: QueryExpression) in try self.resolve(part, group) }
        switch expression {
        case .aggregate(let aggregate, let argument):
            let values = try group.map { try query.value(argument, [$0]) }.filter { !$0.isNull }
            return .literal(try value(of: aggregate, values, argument.resultType))
        case .comparison(let comparison, let left, let right):
            return .comparison(comparison, try resolve(left), try resolve(right))
        case .arithmetic(let operation, let left, let right):
            return .arithmetic(operation, try resolve(left), try resolve(right))
        case .and(let parts): return .and(try parts.map(resolve))
        case .or(let parts): return .or(try parts.map(resolve))
        case .not(let part): return .not(try resolve(part))
        case .coalesce(let parts): return .coalesce(try parts.map(resolve))
        case .function(let function, let parts): return .function(function, try parts.map(resolve))
        case .isMember(let part, let values): return .isMember(try resolve(part), of: values)
        case .conditional(let test, let first, let second):
            return .conditional(try resolve(test), try resolve(first), try resolve(second))
        case .literal, .parameter, .variable, .element, .path, .component, .quantified, .aggregated, .isKind:
            return expression
        }
    }

    private func value(
        of aggregate: QueryExpression.Aggregate,
        _ values: [Value],
        _ type: AttributeType?
    ) throws -> Value {
        switch aggregate {
        case .count: return .integer(Int64(values.count))
        case .distinctCount: return .integer(Int64(Set(values).count))
        case .minimum, .maximum:
            let sorted = values.sorted { left, right in
                if type == .uint64, case .integer(let left) = left, case .integer(let right) = right {
                    return UInt64(bitPattern: left) < UInt64(bitPattern: right)
                }
                return ReferenceQuery.order(left, right) < 0
            }
            return (aggregate == .minimum ? sorted.first : sorted.last) ?? .null
        case .sum, .average:
            guard !values.isEmpty else { return .null }
            if type == .decimal {
                let sum = values.compactMap(Decimal.init(storedValue:)).reduce(0, +)
                return (aggregate == .sum ? sum : sum / Decimal(values.count)).storedValue
            }
            var integers: Int64 = 0
            var reals = 0.0
            var areIntegers = true
            for value in values {
                switch value {
                case .integer(let integer):
                    let (sum, overflow) = integers.addingReportingOverflow(integer)
                    if aggregate == .sum, overflow || type == .uint64 && integer < 0 {
                        throw QueryError.arithmeticOverflow
                    }
                    integers = sum
                    reals += type == .uint64 ? Double(UInt64(bitPattern: integer)) : Double(integer)
                case .real(let real):
                    areIntegers = false
                    reals += real
                default: throw QueryError.notSummable(aggregate)
                }
            }
            if aggregate == .average { return .real(reals / Double(values.count)) }
            return areIntegers ? .integer(integers) : .real(reals)
        }
    }
}
