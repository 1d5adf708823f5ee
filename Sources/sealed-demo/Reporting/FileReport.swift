import Foundation
import Terminal

/// Shows that a store's file contains no plaintext.
struct FileReport {
    private let content: Data

    /// The number of bytes in the sample for the entropy.
    private static let sampleSize = 1 << 20

    /// Reads the file.
    init(_ url: URL) throws {
        content = try Data(contentsOf: url)
    }

    /// Whether the file has the same bytes as in another report.
    func hasSameContent(as other: FileReport) -> Bool { content == other.content }

    /// Prints the first bytes, the entropy of the file, and whether it contains any of the samples.
    ///
    /// - Throws: ``DemoError/readable`` if it contains one.
    func printFindings(searchingFor samples: [String]) throws {
        let start = content.prefix(16).map { String(format: "%02x", $0) }.joined(separator: " ")
        try Output.print("  \(content.count.grouped) bytes; the first ones are \(start)")
        try Output.print("  (plain SQLite files begin with \"SQLite format 3\")")
        try Output.print("  \(String(format: "%.4f", entropy)) bits of entropy in a byte, of 8")
        if let found = samples.first(where: { content.range(of: Data($0.utf8)) != nil }) {
            throw DemoError.readable(found)
        }
        if let first = samples.first {
            try Output.print(
                "  \(samples.count) stored names and descriptions, such as \"\(first)\": the file has none"
            )
        }
    }

    /// The Shannon entropy of the bytes' distribution, in bits.
    private var entropy: Double {
        let sample = content.prefix(Self.sampleSize)
        var counts = [Int](repeating: 0, count: 256)
        for byte in sample { counts[Int(byte)] += 1 }
        return counts.filter { $0 > 0 }.reduce(0) { sum, count in
            let share = Double(count) / Double(sample.count)
            return sum - share * log2(share)
        }
    }
}
