import EncryptedSQLite
import Foundation
import Journal
import ObjectGraph
import TestSupport
import Testing

@testable import SealedStore

/// The failure model: a process that changes the key ends at any instant (SIGKILL); other processes read and write
/// meanwhile, and continue afterwards. No acknowledged save is lost, and exactly one key opens the store.
@Suite struct KilledKeyChangeTests {
    // changing process           | writing process                   | test
    // opens, changes the key …   | saves pairs, opens the store      | reads, opens the store again
    //                            | again when its file was replaced  | when its file was replaced
    //                            |                                   | kills the first process, sometimes the second
    //                            |                                   | opens with either key, while an earlier context
    //                            |                                   | keeps the shared memory of its file open
    @Test(arguments: killCounts(30))
    func `a killed change of the key leaves a store that exactly one key opens`(kills: Int) throws {
        let folder = TemporaryFolder()
        let url = folder.file("journal.store")
        var random = SeededGenerator()
        var next: Int64 = 1
        var (changes, blocked) = (0, 0)
        var reader = try Journal.open(url)
        for round in 0..<kills {
            let bystander = try Journal.openWithEitherKey(url).context
            // Opens the shared memory, which other openings may then find in the middle of an exchange.
            _ = try bystander.count(FetchRequest(bystander.model.entities[0]))
            let writer = try WriterProcess(url, "pairs", String(next))
            let changer = try WriterProcess(url, "rekey")
            writer.waitForLines(1)
            changer.waitForLines(Int.random(in: 0...2, using: &random))
            for _ in 0..<Int.random(in: 0...20, using: &random) { read(&reader, url, "\(random)") }
            spin(Int.random(in: 0...3_000_000, using: &random))
            _ = changer.end()
            changes += changer.output.split(separator: "\n").count
            read(&reader, url, "\(random)")
            writer.waitForLines(1)
            _ = writer.end()
            let acknowledged =
                writer.output.split(separator: "\n", omittingEmptySubsequences: false)
                .dropLast().last.flatMap { Int64($0) } ?? next - 1
            read(&reader, url, "\(random)")
            try reader.coordinator.removeAllStores()
            var keys = openingKeys(url)
            try bystander.coordinator.removeAllStores()
            if keys.isEmpty {
                // The kill fell between two system calls, see `FileSwap`.
                blocked += 1
                keys = openingKeys(url)
            }
            #expect(keys.count == 1, "\(random) round \(round)")
            let numbers = try pairs(url)
            let last = numbers.last ?? 0
            #expect(numbers == Array(1..<(last + 1)), "\(random) round \(round)")
            #expect(last >= acknowledged, "\(random) round \(round)")
            next = last + 1
            reader = try Journal.openWithEitherKey(url).context
        }
        #expect(changes > 0, "\(random)")
        #expect(blocked <= 1, "\(random)")
        print("killed changes of the key: \(changes) complete ones, \(next) pairs, \(random)")
    }

    private func openingKeys(_ url: URL) -> [UInt8] {
        Journal.keys.filter { key in (try? Journal.open(url, key: key).coordinator.removeAllStores()) != nil }
    }

    /// Reads all pairs on an open context. It can be outdated, but never wrong.
    private func read(_ context: inout ManagedObjectContext, _ url: URL, _ seed: String) {
        do {
            let numbers = try numbers(in: context)
            let last = numbers.last ?? 0
            #expect(numbers == (0..<2 * last).map { $0 / 2 + 1 }, "\(seed)")
        } catch DatabaseError.moved, DatabaseError.busy, DatabaseError.cannotOpen {
            do {
                try context.coordinator.removeAllStores()
                context = try Journal.openWithEitherKey(url).context
            } catch {
                Issue.record("\(error) \(seed)")
            }
        } catch {
            Issue.record("\(error) \(seed)")
        }
    }

    private func pairs(_ url: URL) throws -> [Int64] {
        let context = try Journal.openWithEitherKey(url).context
        defer { try? context.coordinator.removeAllStores() }
        for store in context.coordinator.sealedStores { #expect(try store.check() == []) }
        let numbers = try numbers(in: context)
        #expect(numbers.count.isMultiple(of: 2))
        return Array(Set(numbers)).sorted()
    }

    private func numbers(in context: ManagedObjectContext) throws -> [Int64] {
        context.reset()
        return try context.fetch(FetchRequest(context.model.entities[0]), as: ManagedObject.self)
            .compactMap { if case .integer(let number) = $0["number"] { number } else { nil } }.sorted()
    }

    /// Spends time, so that the kill interrupts different points of a change.
    private func spin(_ rounds: Int) {
        var state: UInt64 = 1
        for _ in 0..<rounds { state = state &* 6_364_136_223_846_793_005 &+ 1 }
        withExtendedLifetime(state) {}
    }
}
