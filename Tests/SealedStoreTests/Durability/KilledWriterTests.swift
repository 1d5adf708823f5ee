import Foundation
import Journal
import ObjectGraph
import TestSupport
import Testing

/// The failure model: the process ends at any instant (SIGKILL), the operating system does not. SQLite's log must keep
/// every acknowledged save, and nothing of an incomplete one.
@Suite struct KilledWriterTests {
    @Test func `a killed writer loses no acknowledged save and leaves none incomplete`() throws {
        let folder = TemporaryFolder()
        let store = folder.file("journal.store")
        var random = SeededGenerator()
        var next: Int64 = 1
        for _ in 0..<100 {
            let acknowledged = try runAndKillWriter(
                store,
                from: next,
                acknowledgements: Int.random(in: 0...12, using: &random),
                pause: Int.random(in: 0...200_000, using: &random)
            )
            let numbers = try readPairs(store)
            let last = numbers.last ?? 0
            #expect(numbers == Array(1..<(last + 1)), "\(random)")
            #expect(last >= (acknowledged ?? next - 1), "\(random)")
            next = last + 1
        }
        #expect(next > 100, "the writer acknowledged too few saves: \(random)")
    }

    /// Starts a writer, kills it after a number of acknowledgements and a pause, and returns the last acknowledgement.
    private func runAndKillWriter(
        _ store: URL,
        from first: Int64,
        acknowledgements: Int,
        pause: Int
    ) throws -> Int64? {
        let writer = try WriterProcess(store, String(first))
        writer.waitForLines(acknowledgements)
        spin(pause)
        _ = writer.end()
        // The last acknowledgement may be cut off: it has no line end then.
        return writer.output.split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().last.flatMap { Int64($0) }
    }

    /// Spends time, so that the kill interrupts different points of a save.
    private func spin(_ rounds: Int) {
        var state: UInt64 = 1
        for _ in 0..<rounds { state = state &* 6_364_136_223_846_793_005 &+ 1 }
        withExtendedLifetime(state) {}
    }

    /// The numbers of the pairs in the store, sorted; an incomplete pair is recorded as an issue.
    private func readPairs(_ store: URL) throws -> [Int64] {
        let context = try Journal.open(store)
        defer { try? context.coordinator.removeAllStores() }
        #expect(try context.storeProblems() == [])
        let entries = try context.fetch(FetchRequest(context.model.entities[0]), as: ManagedObject.self)
        var counts: [Int64: Int] = [:]
        for entry in entries {
            guard case .integer(let number) = entry["number"] else {
                Issue.record("an entry has no number")
                continue
            }
            counts[number, default: 0] += 1
            let other = entry.destination(forRelationship: "other") as? ManagedObject
            #expect(other?["number"] == .integer(number))
            #expect(other !== entry)
        }
        for (number, count) in counts where count != 2 { Issue.record("pair \(number) has \(count) entries") }
        return counts.keys.sorted()
    }
}
