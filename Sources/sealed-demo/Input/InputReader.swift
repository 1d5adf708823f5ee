import Foundation
import Terminal

/// Reads package indexes into a catalogue, and reports malformed lines on standard error.
struct InputReader {
    /// The records that were read.
    private(set) var catalogue = PackageCatalogue()
    /// Whether the input contained only blank lines and comments.
    private(set) var isEmpty = true
    /// The number of lines that were reported.
    private(set) var problemCount = 0

    /// The number of malformed lines of a file that are reported individually.
    private static let reportLimit = 100

    /// Reads an index.
    ///
    /// - Throws: `PackageIndex.ReadingError` if the file cannot be read.
    mutating func read(_ index: PackageIndex) throws {
        let content = try index.read()
        var problems = 0
        let report = { (problem: StanzaParser.Problem) in
            problems += 1
            if problems <= Self.reportLimit {
                ErrorOutput.print("\(index.path):\(problem.line): \(problem.reason)")
            }
        }
        var parser = StanzaParser(wanted: PackageRecord.fieldNames, report: report)
        var stanzaCount = 0
        parser.parse(content) { stanza in
            stanzaCount += 1
            if let record = PackageRecord(stanza, report: report) { catalogue.add(record) }
        }
        if problems > Self.reportLimit {
            ErrorOutput.print("\(index.path): \((problems - Self.reportLimit).grouped) more lines are malformed")
        }
        problemCount += problems
        if stanzaCount + problems > 0 { isEmpty = false }
        try Output.print("  \(index.path): \(parser.lineCount.grouped) lines, \(stanzaCount.grouped) stanzas")
        try Output.flush()
    }
}
