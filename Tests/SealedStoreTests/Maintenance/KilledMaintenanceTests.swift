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
    @Test(arguments: JournalMaintenance.allCases, killCounts(8))
    func `a killed process leaves a complete new file or none, and no acknowledged save is lost`(
        operation: JournalMaintenance,
        kills: Int
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
        for round in 0..<kills {
            let first = Int64(1000 * (round + 1))
            let writer = try WriterProcess(url, String(first))
            writer.waitForLines(3)
            let target = folder.file("target-\(round).store")
            let process = try WriterProcess(url, operation.rawValue, target.path)
            process.waitForLines(1)
            waitForChanges(Int.random(in: 0...12, using: &random), in: folder, of: process)
            _ = process.end()
            // The writer ends by itself when a compaction replaces its file.
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

    /// Waits until the unfinished files of a process were seen with a number of different lengths, or it has exited.
    private func waitForChanges(_ count: Int, in folder: TemporaryFolder, of process: WriterProcess) {
        var (seen, last) = (0, 0)
        while seen < count, process.isRunning {
            let names = (try? folder.names()) ?? []
            let length = names.filter { $0.hasPrefix(".") }.reduce(0) { sum, name in
                let attributes = try? FileManager.default.attributesOfItem(atPath: folder.filePath(name))
                return sum + 1 + (attributes?[.size] as? Int ?? 0)
            }
            if length != last { (seen, last) = (seen + 1, length) }
        }
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
