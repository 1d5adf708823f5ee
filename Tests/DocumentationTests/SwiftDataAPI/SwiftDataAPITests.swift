import Foundation
import Testing

/// Compares the table of SwiftData's symbols in the documentation with the code that uses them.
@Suite("The table of SwiftData's API") struct SwiftDataAPITests {
    private static let article = URL(filePath: #filePath)
        .deletingLastPathComponent()
        .appending(path: "../../../Sources/SealedData/SealedData.docc/SwiftDataAPI.md")

    /// A row of a table: a symbol and its state.
    private struct Row {
        let symbol: String
        let state: String
    }

    /// The rows of the article's tables, each symbol in code voice.
    private func rows() throws -> [Row] {
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| `") else { return nil }
            let cells = line.dropFirst().dropLast().split(separator: "|").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard cells.count == 2 else { return nil }
            return Row(symbol: cells[0].trimmingCharacters(in: ["`"]), state: cells[1])
        }
    }

    /// The states that a symbol can have, by the first word of the cell.
    private static let present = ["Yes.", "Accepted."]
    private static let absent = ["Later.", "Apple."]

    @Test func `the table contains exactly the supported symbols`() throws {
        let listed = try rows().filter { row in Self.present.contains { row.state.hasPrefix($0) } }.map(\.symbol)
        let compiled = SymbolList.all.names
        #expect(Set(compiled).subtracting(listed).sorted() == [], "not in the table")
        #expect(Set(listed).subtracting(compiled).sorted() == [], "in the table, but not compiled")
    }

    @Test func `every symbol has one row`() throws {
        let counts = Dictionary(grouping: try rows(), by: \.symbol).filter { $1.count > 1 }
        #expect(counts.keys.sorted() == [])
        let names = Dictionary(grouping: SymbolList.all.names, by: \.self).filter { $1.count > 1 }
        #expect(names.keys.sorted() == [])
    }

    @Test func `a symbol that is missing or has no effect has a reason`() throws {
        let states = Self.present + Self.absent
        for row in try rows() {
            #expect(states.contains { row.state.hasPrefix($0) }, "\(row.symbol): \(row.state)")
            if !row.state.hasPrefix("Yes.") { #expect(row.state.split(separator: " ").count > 3, "\(row.symbol)") }
        }
    }
}
