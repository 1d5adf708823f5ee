extension LiveResults {
    /// The order of the sections, which is the order of the first sort key; nil if the order of the result is unknown.
    package var sectionOrder: QuerySort? { isPositional ? nil : query.request.sort.first }
}

extension OrderedResults {
    /// The positions at which the value of the first sort key differs from the value of the previous entry.
    ///
    /// - Complexity: O(*s* log *n*) comparisons for *s* positions.
    package func sectionStarts(_ sort: QuerySort) -> [Int] {
        var starts: [Int] = []
        var next = 0
        while next < count {
            starts.append(next)
            let value = self[next].values[0]
            next = partitioningIndex { sort.precedes(value, $0.values[0]) != true }
        }
        return starts
    }
}

extension ResultEntry {
    /// The value of the first sort key, by which the entry belongs to a section.
    package var sectionValue: Value { values[0] }
}
