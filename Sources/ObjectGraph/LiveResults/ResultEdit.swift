/// The changes of a result's entries by one update.
struct ResultEdit {
    /// The entries that leave the result or get another rank, each with its new entry.
    private var changed: [(old: ResultEntry, new: ResultEntry?)] = []
    /// The entries of objects that may enter the result.
    private var arriving: [ResultEntry] = []
    /// The changed entries, after the edit was applied.
    private(set) var differences: [(old: ResultEntry?, new: ResultEntry?)] = []

    /// Evaluates a changed object.
    ///
    /// - Parameter shown: The object's entry in the result.
    mutating func add(_ object: any GraphObject, _ shown: ResultEntry?, _ results: LiveResults) throws {
        let new = try results.entry(for: object)
        switch (shown, new) {
        case (nil, let new?): arriving.append(new)
        case (let old?, let new?) where old.hasRank(of: new): break
        case (let old?, let new): changed.append((old, new))
        case (nil, nil): break
        }
    }

    /// Applies the edit.
    ///
    /// - Parameters:
    ///   - limit: The largest number of entries.
    ///   - position: Returns the position of an entry.
    ///   - precedes: The order of the entries.
    /// - Returns: The new entries; nil if objects that are not in the result may enter it.
    mutating func applied(
        to entries: OrderedResults,
        limit: Int?,
        _ position: (ResultEntry, OrderedResults) -> Int?,
        _ precedes: (ResultEntry, ResultEntry) -> Bool
    ) -> OrderedResults? {
        var result = entries
        for entry in changed {
            guard let position = position(entry.old, result) else { continue }
            result.remove(at: position)
        }
        // If a result is full, the store may have further objects, all of them after the last entry.
        let isFull = limit.map { entries.count >= $0 } ?? false
        let last = isFull ? entries.last : nil
        if isFull, last == nil { return entries }
        func fits(_ entry: ResultEntry) -> Bool { last.map { precedes(entry, $0) } ?? true }
        var added: [(old: ResultEntry?, new: ResultEntry)] = []
        for entry in changed {
            guard let new = entry.new, fits(new) else {
                differences.append((entry.old, nil))
                continue
            }
            added.append((entry.old, new))
        }
        for entry in arriving where fits(entry) { added.append((nil, entry)) }
        for entry in added {
            result.insert(entry.new, at: result.partitioningIndex { precedes($0, entry.new) })
        }
        let addedEntries = Set(added.map { ObjectIdentifier($0.new) })
        var cut: Set<ObjectIdentifier> = []
        if let limit {
            if isFull, result.count < limit { return nil }
            while result.count > limit, let last = result.last {
                cut.insert(ObjectIdentifier(last))
                result.remove(at: result.count - 1)
                if !addedEntries.contains(ObjectIdentifier(last)) { differences.append((last, nil)) }
            }
        }
        for entry in added {
            let new = cut.contains(ObjectIdentifier(entry.new)) ? nil : entry.new
            if entry.old != nil || new != nil { differences.append((entry.old, new)) }
        }
        return result
    }
}
