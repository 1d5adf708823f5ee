extension QueryEvaluator {
    /// Merges objects into the order of sort keys. Equal objects come in the order of their primary keys, new objects
    /// last.
    ///
    /// - Parameter sorted: Objects that are already in that order.
    func merge(
        _ sorted: [any GraphObject],
        _ others: [any GraphObject],
        by sort: [QuerySort]
    ) throws -> [any GraphObject] {
        guard !others.isEmpty else { return sorted }
        let left = try sorted.map { try Ranked($0, sort, self) }
        let right = try others.map { try Ranked($0, sort, self) }.sorted { Ranked.precedes($0, $1, sort) }
        var result: [any GraphObject] = []
        result.reserveCapacity(left.count + right.count)
        var next = right.startIndex
        for ranked in left {
            while next < right.endIndex, Ranked.precedes(right[next], ranked, sort) {
                result.append(right[next].object)
                next += 1
            }
            result.append(ranked.object)
        }
        return result + right[next...].map(\.object)
    }

    /// An object with its sort keys.
    private struct Ranked {
        let object: any GraphObject
        let values: [Value]

        init(_ object: any GraphObject, _ sort: [QuerySort], _ evaluator: QueryEvaluator) throws {
            self.object = object
            values = try sort.map { try evaluator.value($0.expression, for: object) }
        }

        static func precedes(_ left: Ranked, _ right: Ranked, _ sort: [QuerySort]) -> Bool {
            sort.precedes(left.values, left.object.state.pointee.key, right.values, right.object.state.pointee.key)
        }
    }
}

extension [QuerySort] {
    /// Whether an object precedes another object: by the values of the sort keys, then by primary key, new objects
    /// last.
    func precedes(_ leftValues: [Value], _ leftKey: Int64, _ rightValues: [Value], _ rightKey: Int64) -> Bool {
        for (position, key) in enumerated() {
            if let precedes = key.precedes(leftValues[position], rightValues[position]) { return precedes }
        }
        // Temporary keys count downwards.
        if leftKey < 0, rightKey < 0 { return leftKey > rightKey }
        return leftKey < 0 ? false : rightKey < 0 ? true : leftKey < rightKey
    }
}
