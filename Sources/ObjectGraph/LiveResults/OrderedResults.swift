/// An object of a result, with the values by which it is ordered.
///
/// It is immutable: an object whose rank changes gets another entry, so that earlier states of a result stay valid.
package final class ResultEntry {
    /// The object.
    package let object: any GraphObject
    /// The values of the sort keys.
    let values: [Value]
    /// The primary key when the entry was made.
    let key: Int64

    init(_ object: any GraphObject, _ values: [Value]) {
        self.object = object
        self.values = values
        key = object.state.pointee.key
    }

    /// Whether both have the same rank.
    func hasRank(of other: ResultEntry) -> Bool { key == other.key && values == other.values }
}

/// The entries of a result in their order, in chunks: a copy shares the chunks that are not changed.
///
/// Finding a rank takes O(log *n*) comparisons. A change moves the references of one chunk, and counts the entries of
/// the chunks after it: O(512 + *n* / 512) steps of about a nanosecond.
package struct OrderedResults {
    private static let chunkSize = 512

    private var chunks: [[ResultEntry]] = []
    /// The number of entries before each chunk.
    private var starts: [Int] = []
    /// The number of entries.
    package private(set) var count = 0

    init() {}

    init(_ entries: [ResultEntry]) {
        count = entries.count
        for start in stride(from: 0, to: entries.count, by: Self.chunkSize) {
            starts.append(start)
            chunks.append(Array(entries[start..<min(start + Self.chunkSize, entries.count)]))
        }
    }

    /// The last entry.
    var last: ResultEntry? { chunks.last?.last }

    /// The entry at a position.
    ///
    /// - Complexity: O(log *n*).
    package subscript(position: Int) -> ResultEntry {
        precondition(position >= 0 && position < count, "there is no result at this position")
        let chunk = chunk(containing: position)
        return chunks[chunk][position - starts[chunk]]
    }

    /// Calls `body` with each entry in its order.
    func forEach(_ body: (ResultEntry) throws -> Void) rethrows {
        for chunk in chunks { for entry in chunk { try body(entry) } }
    }

    /// The number of leading entries for which `precedes` holds; it holds for no entry after them.
    ///
    /// - Complexity: O(log *n*) calls.
    package func partitioningIndex(where precedes: (ResultEntry) -> Bool) -> Int {
        var (low, high) = (0, chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if precedes(chunks[middle][0]) { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return 0 }
        let chunk = chunks[low - 1]
        var (first, end) = (1, chunk.count)
        while first < end {
            let middle = (first + end) / 2
            if precedes(chunk[middle]) { first = middle + 1 } else { end = middle }
        }
        return starts[low - 1] + first
    }

    mutating func insert(_ entry: ResultEntry, at position: Int) {
        precondition(position >= 0 && position <= count, "an entry is inserted between others")
        count += 1
        guard !chunks.isEmpty else {
            chunks = [[entry]]
            starts = [0]
            return
        }
        let chunk = position == count - 1 ? chunks.count - 1 : chunk(containing: position)
        chunks[chunk].insert(entry, at: position - starts[chunk])
        if chunks[chunk].count > 2 * Self.chunkSize {
            let half = Array(chunks[chunk][Self.chunkSize...])
            chunks[chunk].removeLast(half.count)
            chunks.insert(half, at: chunk + 1)
            starts.insert(0, at: chunk + 1)
        }
        countEntries(from: chunk)
    }

    mutating func remove(at position: Int) {
        precondition(position >= 0 && position < count, "there is no result at this position")
        let chunk = chunk(containing: position)
        chunks[chunk].remove(at: position - starts[chunk])
        count -= 1
        if chunks[chunk].isEmpty {
            chunks.remove(at: chunk)
            starts.remove(at: chunk)
        }
        countEntries(from: chunk)
    }

    private mutating func countEntries(from chunk: Int) {
        guard chunk < chunks.count else { return }
        var start = chunk == 0 ? 0 : starts[chunk - 1] + chunks[chunk - 1].count
        for index in chunk..<chunks.count {
            starts[index] = start
            start += chunks[index].count
        }
    }

    private func chunk(containing position: Int) -> Int {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] <= position { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }
}
