import Foundation

/// Measures all participants alternately, in medians of seven runs, and prints their times relative to the C API.
@main
struct Peers {
    private static let runs = 7

    private let participants: [any Participant] = [
        HandWrittenParticipant(isEncrypted: true),
        SealedParticipant(),
        GRDBParticipant(style: .records),
        GRDBParticipant(style: .codable),
        GRDBParticipant(style: .byName),
        GRDBParticipant(style: .byIndex),
        HandWrittenParticipant(isEncrypted: false),
    ]
    private let folder: URL

    static func main() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let rows = ProcessInfo.processInfo.environment["BENCHMARK_ROWS"].flatMap { Int($0) } ?? 100_000
        try Peers(folder: folder).run(rows: rows)
    }

    private func run(rows: Int) throws {
        print("operation".padding(toLength: 36, withPad: " ", startingAt: 0), terminator: "")
        for participant in participants { print(Self.column(participant.name), terminator: "") }
        print("   C API, ns/row")
        let (toInsert, toFetch) = (50_000, 200_000)
        try measure("insert \(rows) items", rows) { try inNewFile { try $0.insertItems(rows, into: $1) }($0) }
        let items = try files("items") { _ = try $0.insertItems(rows, into: $1) }
        try measure("fetch \(rows) items", rows) { try $0.fetchItems(from: items[$0.name]!) }
        try measure("change \(rows) items", rows) { try $0.changeItems(of: items[$0.name]!) }
        try measure("insert \(toInsert) rows of 10 integers", toInsert) {
            try inNewFile { try $0.insertIntegers(toInsert, into: $1) }($0)
        }
        let integers = try files("integers") { _ = try $0.insertIntegers(toFetch, into: $1) }
        try measure("fetch \(toFetch) rows of 10 integers", toFetch) { try $0.fetchIntegers(from: integers[$0.name]!) }
    }

    /// Measures one operation and prints its line.
    private func measure(_ operation: String, _ rows: Int, _ body: (any Participant) throws -> UInt64) throws {
        var times: [[Double]] = participants.map { _ in [] }
        for run in 0...Self.runs {
            for (index, participant) in participants.enumerated() {
                let time = Double(try body(participant))
                if run > 0 { times[index].append(time) }
            }
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        print(operation.padding(toLength: 36, withPad: " ", startingAt: 0), terminator: "")
        for median in medians { print(Self.column(String(format: "%.2f", median / medians[0])), terminator: "") }
        print(String(format: "%16.0f", medians[0] / Double(rows)))
    }

    /// A file of each participant, by name.
    private func files(_ name: String, _ fill: (any Participant, URL) throws -> Void) throws -> [String: URL] {
        var files: [String: URL] = [:]
        for (index, participant) in participants.enumerated() {
            let file = folder.appending(path: "\(name)-\(index)")
            try fill(participant, file)
            files[participant.name] = file
        }
        return files
    }

    /// The same on a new file each time, which is removed afterwards.
    private func inNewFile(
        _ body: @escaping (any Participant, URL) throws -> UInt64
    ) -> (any Participant) throws -> UInt64 {
        { participant in
            let folder = folder.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            return try body(participant, folder.appending(path: "new"))
        }
    }

    private static func column(_ text: String) -> String {
        String(repeating: " ", count: max(1, 15 - text.count)) + text
    }
}
