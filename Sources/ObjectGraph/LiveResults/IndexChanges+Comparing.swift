extension IndexChanges {
    /// An element that differs between two lists, with its positions; a position is nil if the list does not contain
    /// it.
    package struct Difference {
        package let old: Int?
        package let new: Int?

        package init(old: Int?, new: Int?) {
            self.old = old
            self.new = new
        }
    }

    /// The difference between two lists.
    ///
    /// - Parameter differences: The elements that only one list contains, and the elements that may have moved. All
    ///   other elements are in both lists, in the same relative order.
    /// - Complexity: O(*k* log *k*) for *k* differences, whatever the length of the lists.
    package init(_ differences: [Difference]) {
        self.init()
        let olds = differences.compactMap(\.old).sorted()
        let news = differences.compactMap(\.new).sorted()
        var candidates: [Move] = []
        for difference in differences {
            switch (difference.old, difference.new) {
            case (let old?, nil): deletions.append(old)
            case (nil, let new?): insertions.append(new)
            case (let old?, let new?): candidates.append(Move(from: old, to: new))
            case (nil, nil): break
            }
        }
        deletions.sort()
        insertions.sort()
        candidates.sort { $0.to < $1.to }
        // An element stays in place if the same number of unchanged elements precedes it in both lists, and it is in
        // order with the other elements that stay.
        let inPlace = candidates.filter { $0.from - olds.count(below: $0.from) == $0.to - news.count(below: $0.to) }
        let staying = Set(inPlace.map(\.from).longestIncreasingSubsequence)
        moves = candidates.filter { !staying.contains($0.from) }
    }
}

extension IndexChanges {
    /// The difference between two states of a result.
    ///
    /// - Complexity: O(*n*), and O(*m* log *m*) for *m* objects whose rank among the objects of both states has
    ///   changed.
    init(
        from old: OrderedResults,
        to new: OrderedResults,
        _ newEntries: [ObjectIdentifier: ResultEntry]
    ) {
        var differences: [Difference] = []
        // Positions in both states, and the rank among the objects of both.
        var olds: [ObjectIdentifier: (position: Int, rank: Int)] = [:]
        var (position, rank) = (0, 0)
        old.forEach { entry in
            let id = ObjectIdentifier(entry.object)
            if newEntries[id] == nil {
                differences.append(Difference(old: position, new: nil))
            } else {
                olds[id] = (position, rank)
                rank += 1
            }
            position += 1
        }
        (position, rank) = (0, 0)
        new.forEach { entry in
            if let known = olds[ObjectIdentifier(entry.object)] {
                if known.rank != rank { differences.append(Difference(old: known.position, new: position)) }
                rank += 1
            } else {
                differences.append(Difference(old: nil, new: position))
            }
            position += 1
        }
        self.init(differences)
    }
}

extension [Int] {
    /// A longest increasing subsequence.
    ///
    /// - Complexity: O(*n* log *n*).
    fileprivate var longestIncreasingSubsequence: [Int] {
        // The index of the smallest last element of the subsequences of each length, and the predecessor of each
        // element in its subsequence (Fredman: On computing the length of longest increasing subsequences, 1975).
        var lasts: [Int] = []
        var predecessors = [Int?](repeating: nil, count: count)
        for index in indices {
            var (low, high) = (0, lasts.count)
            while low < high {
                let middle = (low + high) / 2
                if self[lasts[middle]] < self[index] { low = middle + 1 } else { high = middle }
            }
            if low > 0 { predecessors[index] = lasts[low - 1] }
            if low == lasts.count { lasts.append(index) } else { lasts[low] = index }
        }
        var result: [Int] = []
        var next = lasts.last
        while let index = next {
            result.append(self[index])
            next = predecessors[index]
        }
        return result.reversed()
    }
}
