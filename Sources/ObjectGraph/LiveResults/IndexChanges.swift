/// The difference between two states of a list, by positions.
///
/// To apply it, remove the deleted and the moved elements from the old list, and insert the new and the moved elements
/// at their new positions, in ascending order. The other elements keep their relative order.
package struct IndexChanges: Hashable, Sendable {
    /// A move of one element.
    package struct Move: Hashable, Sendable {
        /// The position in the old list.
        package var from: Int
        /// The position in the new list.
        package var to: Int

        package init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// The positions of deleted elements in the old list, ascending.
    package var deletions: [Int]
    /// The positions of new elements in the new list, ascending.
    package var insertions: [Int]
    /// The moved elements, ascending by their new positions.
    package var moves: [Move]

    package init(deletions: [Int] = [], insertions: [Int] = [], moves: [Move] = []) {
        self.deletions = deletions
        self.insertions = insertions
        self.moves = moves
    }

    /// Whether both lists have the same elements in the same order.
    package var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && moves.isEmpty }

    // MARK: Positions

    /// Translates positions between the lists.
    package struct Positions {
        private let removed: [Int]
        private let added: [Int]
        private let moves: [Int: Int]
        private let movesBack: [Int: Int]
        private let deleted: Set<Int>
        private let inserted: Set<Int>

        /// Makes a translation.
        ///
        /// - Complexity: O(*k* log *k*) for *k* changes.
        package init(_ changes: IndexChanges) {
            removed = (changes.deletions + changes.moves.map(\.from)).sorted()
            added = (changes.insertions + changes.moves.map(\.to)).sorted()
            moves = Dictionary(changes.moves.map { ($0.from, $0.to) }, uniquingKeysWith: { first, _ in first })
            movesBack = Dictionary(changes.moves.map { ($0.to, $0.from) }, uniquingKeysWith: { first, _ in first })
            deleted = Set(changes.deletions)
            inserted = Set(changes.insertions)
        }

        /// The new position of the element at an old position; nil if it was deleted.
        ///
        /// - Complexity: O(log *k*) for *k* changes.
        package func new(_ old: Int) -> Int? {
            if let moved = moves[old] { return moved }
            guard !deleted.contains(old) else { return nil }
            return added.member(atRank: old - removed.count(below: old))
        }

        /// The old position of the element at a new position; nil if it is new.
        ///
        /// - Complexity: O(log *k*) for *k* changes.
        package func old(_ new: Int) -> Int? {
            if let moved = movesBack[new] { return moved }
            guard !inserted.contains(new) else { return nil }
            return removed.member(atRank: new - added.count(below: new))
        }
    }

    // MARK: Composition

    /// The difference between the old list of this difference and the new list of a later difference.
    ///
    /// - Complexity: O(*k* log *k*) for *k* changes in both. Its size is bounded by the sizes of the outer lists.
    package func followed(by later: IndexChanges) -> IndexChanges {
        if isEmpty { return later }
        if later.isEmpty { return self }
        let (first, second) = (Positions(self), Positions(later))
        var result = IndexChanges()
        result.deletions = (deletions + later.deletions.compactMap(first.old)).sorted()
        result.insertions =
            (later.insertions + insertions.compactMap(second.new)
            + later.moves.filter { first.old($0.from) == nil }.map(\.to)).sorted().removingRepetitions()
        var moved: [Int: Int] = [:]
        for move in moves { if let new = second.new(move.to) { moved[new] = move.from } }
        for move in later.moves { if let old = first.old(move.from) { moved[move.to] = old } }
        result.moves = moved.map { Move(from: $1, to: $0) }.sorted { $0.to < $1.to }
        return result
    }

    /// The list that results from a list of the old elements.
    ///
    /// - Parameter inserted: Returns the new element at a new position.
    package func applied<Element>(to old: [Element], inserting inserted: (Int) throws -> Element) rethrows -> [Element]
    {
        let removed = Set(deletions + moves.map(\.from))
        var result = old.indices.filter { !removed.contains($0) }.map { old[$0] }
        var added: [(position: Int, element: Element)] = moves.map { ($0.to, old[$0.from]) }
        for position in insertions { added.append((position, try inserted(position))) }
        for (position, element) in added.sorted(by: { $0.position < $1.position }) {
            result.insert(element, at: position)
        }
        return result
    }
}

extension [Int] {
    /// The number of elements of the ascending list that are less than a number.
    package func count(below number: Int) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The number at a rank among the natural numbers that are not in the ascending list.
    fileprivate func member(atRank rank: Int) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] - middle <= rank { low = middle + 1 } else { high = middle }
        }
        return rank + low
    }

    /// The ascending list without repetitions.
    fileprivate func removingRepetitions() -> [Int] {
        var result: [Int] = []
        for number in self where result.last != number { result.append(number) }
        return result
    }
}
