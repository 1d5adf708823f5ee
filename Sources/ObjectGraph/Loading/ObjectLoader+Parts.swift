// A request that reads the rows of many objects fails if one of them lies on a damaged page. The loader then divides
// it, so that the result only lacks objects whose rows cannot be read by a separate request either.

/// The results of a request that was divided, and the elements that a separate request could not read.
struct ReadParts<Element, Result> {
    var results: [Result] = []
    var failures: [(element: Element, error: any Error)] = []
}

/// The keys of rows and owners that separate requests could not read. They are read again when the program accesses the
/// object, but no longer together with other objects: each such request would fail.
struct UnreadableKeys {
    /// By the index of the root entity.
    private var rows: [Int: Set<Int64>] = [:]
    /// The owners of members, by the index of the relationship.
    private var owners: [Int: Set<Int64>] = [:]

    func containsRow(_ key: Int64, of entity: Entity) -> Bool {
        !rows.isEmpty && rows[entity.rootIndex]?.contains(key) ?? false
    }

    func containsOwner(_ key: Int64, of relationship: Relationship) -> Bool {
        !owners.isEmpty && owners[relationship.index]?.contains(key) ?? false
    }

    mutating func addRow(_ key: Int64, of entity: Entity) { rows[entity.rootIndex, default: []].insert(key) }

    mutating func addOwner(_ key: Int64, of relationship: Relationship) {
        owners[relationship.index, default: []].insert(key)
    }
}

extension ObjectLoader {
    /// The rows of objects with keys, in parts if some of them cannot be read.
    ///
    /// - Throws: errors that concern all rows.
    func rows(of entity: Entity, withKeys keys: [Int64]) throws -> ReadParts<Int64, RowBatch> {
        let parts = try readInParts(keys[...]) { [self] keys in
            try stores.rows(of: entity, with: keys.map { identityMap.id(entity: entity, key: $0) })
        }
        for failure in parts.failures { unreadable.addRow(failure.element, of: entity) }
        return parts
    }

    /// Reads elements with one request or, if it fails, with a request for each half, and so on.
    ///
    /// - Throws: errors that concern all elements.
    /// - Complexity: one request; with *d* elements that cannot be read, O(*d* log *n*), and at most 2 *n*.
    func readInParts<Element, Result>(
        _ elements: ArraySlice<Element>,
        _ read: ([Element]) throws -> Result
    ) throws -> ReadParts<Element, Result> {
        var parts = ReadParts<Element, Result>()
        try readInParts(elements, read, into: &parts)
        return parts
    }

    private func readInParts<Element, Result>(
        _ elements: ArraySlice<Element>,
        _ read: ([Element]) throws -> Result,
        into parts: inout ReadParts<Element, Result>
    ) throws {
        do {
            parts.results.append(try read(Array(elements)))
        } catch let error as any PartialReadError where error.mayConcernSingleRows {
            guard elements.count > 1 else {
                if let element = elements.first { parts.failures.append((element, error)) }
                return
            }
            let middle = elements.startIndex + elements.count / 2
            try readInParts(elements[..<middle], read, into: &parts)
            try readInParts(elements[middle...], read, into: &parts)
        }
    }
}
