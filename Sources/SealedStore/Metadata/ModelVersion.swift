/// The version of a program's model: numbers separated by points, compared from left to right.
struct ModelVersion: Hashable, Sendable {
    /// The version of a program that declares none.
    static let undeclared = ModelVersion(numbers: [1])

    private let numbers: [UInt64]

    private init(numbers: [UInt64]) {
        self.numbers = numbers
    }

    /// - Returns: Nil for a text that is not a version.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? UInt64(part) : nil
        }
        guard numbers.count == parts.count else { return nil }
        self.numbers = numbers
    }
}

extension ModelVersion: Comparable, CustomStringConvertible {
    /// Missing numbers count as zero.
    static func < (left: ModelVersion, right: ModelVersion) -> Bool {
        for position in 0..<max(left.numbers.count, right.numbers.count) {
            let one = position < left.numbers.count ? left.numbers[position] : 0
            let other = position < right.numbers.count ? right.numbers[position] : 0
            if one != other { return one < other }
        }
        return false
    }

    var description: String { numbers.map(String.init).joined(separator: ".") }
}
