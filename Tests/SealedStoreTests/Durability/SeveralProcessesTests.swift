import Foundation
import Journal
import ObjectGraph
import TestSupport
import Testing

/// Several processes save, delete and link objects of one store, and one after the other is killed at any instant.
///
/// The failure model: SIGKILL; the operating system does not end.
///
///     test      writer 1                writer 2                writer 3
///     starts    inserts, links          inserts, deletes        –
///     kills 1   ended within a save     saves                   starts
///     kills 2   –                       ended within a save     saves, recovers the log
///     checks    acknowledged members exist, acknowledged deletions are done, the store has no problems
@Suite struct SeveralProcessesTests {
    @Test func `no acknowledged save is lost, and no reference dangles`() throws {
        let folder = TemporaryFolder()
        let store = folder.file("network.store")
        var random = SeededGenerator()
        // The numbers of the writers follow from the seed.
        let first = Int64.random(in: 1...1_000_000, using: &random)
        try Network.open(store).coordinator.removeAllStores()
        var running: [Writer] = []
        var ended: [Writer] = []
        for number in 0..<12 {
            running.append(try Writer(store, number: first + Int64(number)))
            guard running.count == 3 else { continue }
            let writer = running.remove(at: Int.random(in: 0..<running.count, using: &random))
            writer.process.waitForLines(Int.random(in: 1...40, using: &random))
            #expect(writer.process.end() == SIGKILL, "writer \(writer.number) ended by itself, \(random)")
            ended.append(writer)
            if number % 4 == 3 { try check(store, ended, "\(random)") }
        }
        for writer in running {
            writer.process.waitForLines(20)
            #expect(writer.process.end() == SIGKILL, "writer \(writer.number) ended by itself, \(random)")
        }
        try check(store, ended + running, "\(random)")
    }

    /// Compares the store with the acknowledgements of the writers that have ended. Others may be running.
    private func check(_ store: URL, _ writers: [Writer], _ seed: String) throws {
        let context = try Network.open(store)
        defer { try? context.coordinator.removeAllStores() }
        let problems = try context.storeProblems()
        #expect(problems.isEmpty, "\(problems.map(\.description)), \(seed)")
        for writer in writers {
            let log = NetworkLog(writer.process.output)
            let numbers = Set(try Network.numbers(of: writer.number, in: context))
            #expect(log.present.subtracting(log.open).subtracting(numbers) == [], "lost, \(seed)")
            #expect(numbers.subtracting(log.present).subtracting(log.open) == [], "not acknowledged, \(seed)")
            #expect(log.open.count <= 1, "\(seed)")
        }
    }

    /// A process that saves members of the writer `number` until it is killed.
    private struct Writer {
        let number: Int64
        let process: WriterProcess

        init(_ store: URL, number: Int64) throws {
            self.number = number
            process = try WriterProcess(store, "network", String(number))
        }
    }
}
