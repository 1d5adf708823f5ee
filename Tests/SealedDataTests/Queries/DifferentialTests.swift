import Foundation
import TestSupport
import Testing

/// Random predicates, sorts, limits and aggregates over random data: the results of a store must equal those of
/// Foundation's evaluation, on saved data and with pending changes.
///
/// The seeds are new in each run; `SEED=N swift test --filter DifferentialTests` repeats one. `QUERY_COUNT` is the
/// number of queries.
@Suite struct DifferentialTests {
    private static let queriesOfWorld = 50

    private static let seeds: [UInt64] = {
        let count = ProcessInfo.processInfo.environment["QUERY_COUNT"].flatMap { Int($0) } ?? 3000
        return SeededGenerator.seeds(max(1, count / queriesOfWorld))
    }()

    @Test func `a store and Foundation's evaluation have the same results`() throws {
        for seed in Self.seeds {
            var world = try RandomWorld(seed: seed)
            for number in 0..<Self.queriesOfWorld {
                if number == Self.queriesOfWorld / 2 { try world.changeSome() }
                do {
                    number % 5 == 4 ? try world.checkAggregates() : try world.check()
                } catch {
                    Issue.record("\(error)\nSEED=\(seed), query \(number)")
                    return
                }
            }
            #expect(try world.problemsAfterSave() == [], "SEED=\(seed)")
        }
    }
}
