import Foundation
import Journal
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// The failure model: the process that works on a whole file ends at any instant (SIGKILL), while another process
/// saves.
@Suite struct KilledMaintenanceTests {
    // process                  | writer                      | test
    // opens, writes "begun"    | saves pairs, acknowledges   |
    // copies, verifies         | saves pairs, acknowledges   | kills the process
    // (renames)                |                             | kills the writer, opens the files
    @Test(arguments: JournalMaintenance.allCases)
    func `a killed process leaves a complete new file or none, and no acknowledged save is lost`(
        operation: JournalMaintenance
    ) throws {
        let folder = TemporaryFolder()
        let url = folder.file("journal.store")
        var random = SeededGenerator()
        do {
            let context = try Journal.open(url)
            for number in 0..<400 { try Journal.writePair(Int64(number), in: context) }
            for entry in try context.fetch(FetchRequest(context.model.entities[0]), as: ManagedObject.self).suffix(300)
            {
                context.delete(entry)
            }
            try context.save()
            try context.coordinator.removeAllStores()
        }
        var acknowledged = Set<Int64>()
        var complete = 0
        for round in 0..<12 {
            let first = Int64(1000 * (round + 1))
            let writer = try WriterProcess(url, String(first))
            writer.waitForLines(3)
            let target = folder.file("target-\(round).store")
            let process = try WriterProcess(url, operation.rawValue, target.path)
            process.waitForLines(1)
            // Rounds of work instead of time, so that the kill falls into different places.
            var sum: UInt64 = 0
            for number in 0..<Int.random(in: 0...20_000_000, using: &random) { sum &+= UInt64(number) }
            _ = process.end()
            #expect(sum < .max)
            _ = writer.end()
            acknowledged.formUnion(writer.output.split(separator: "\n").compactMap { Int64($0) })
            #expect(try numbers(url).isSuperset(of: acknowledged), "\(random)")
            if FileManager.default.fileExists(atPath: target.path) {
                complete += 1
                let copied = try numbers(target)
                #expect(copied.contains(0), "\(random)")
                #expect(!FileManager.default.fileExists(atPath: target.path + "-journal"))
            }
        }
        print("killed: \(operation.rawValue), \(complete) complete files, \(acknowledged.count) saves, \(random)")
    }

    /// The numbers of the pairs in a store, which has to be sound.
    private func numbers(_ url: URL) throws -> Set<Int64> {
        let context = try Journal.open(url)
        defer { try? context.coordinator.removeAllStores() }
        let store = try #require(try context.coordinator.store(for: context.model.entities[0]).store as? SealedStore)
        #expect(try store.check() == [])
        let entries = try context.fetch(FetchRequest(context.model.entities[0]), as: ManagedObject.self)
        return Set(entries.compactMap { if case .integer(let number) = $0["number"] { number } else { nil } })
    }
}
