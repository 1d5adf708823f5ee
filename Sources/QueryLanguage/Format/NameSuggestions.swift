/// The existing names that are similar to an unknown name.
struct NameSuggestions {
    /// The names, the closest first.
    let names: [String]

    private static let mostNames = 3
    /// Longer names are not compared: the time is quadratic in the length.
    private static let longestName = 64

    init(for name: String, among known: some Sequence<String>) {
        let limit = max(1, name.count / 3)
        guard name.count <= Self.longestName else {
            names = []
            return
        }
        let written = Array(name.lowercased())
        let close = Set(known).compactMap { candidate -> (name: String, distance: Int)? in
            guard candidate.count <= Self.longestName else { return nil }
            let distance = Self.distance(written, Array(candidate.lowercased()))
            return distance <= limit ? (candidate, distance) : nil
        }
        names = close.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(Self.mostNames).map(\.name)
    }

    /// Returns the optimal string alignment distance: the number of insertions, deletions, substitutions and
    /// transpositions of adjacent characters.
    private static func distance(_ first: [Character], _ second: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...second.count)
        for (row, character) in first.enumerated() {
            var current = [row + 1]
            for (column, other) in second.enumerated() {
                var best = min(last[column] + (character == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, character == second[column - 1], first[row - 1] == other {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[second.count]
    }
}
