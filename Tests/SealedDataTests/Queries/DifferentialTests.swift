import Foundation
import Testing

/// Random predicates, sorts, limits and aggregates over random data: what a store finds has to be what Foundation's own
/// evaluation finds among all objects, on saved data and with unsaved changes pending.
///
/// The seeds are new in each run; `QUERY_SEED=N swift test --filter DifferentialTests` repeats one. `QUERY_COUNT` is the
/// number of queries.
@Suite struct DifferentialTests {
    private static let queriesOfWorld = 50

    private static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["QUERY_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        let count = environment["QUERY_COUNT"].flatMap { Int($0) } ?? 3000
        return (0..<max(1, count / queriesOfWorld)).map { _ in UInt64.random(in: 0..<10_000_000) }
    }()

    @Test func `a store finds what Swift's evaluation finds`() throws {
        for seed in Self.seeds {
            var world = try RandomWorld(seed: seed)
            for number in 0..<Self.queriesOfWorld {
                if number == Self.queriesOfWorld / 2 { try world.changeSome() }
                do {
                    number % 5 == 4 ? try world.checkAggregates() : try world.check()
                } catch {
                    Issue.record("\(error)\nQUERY_SEED=\(seed), query \(number)")
                    return
                }
            }
            #expect(try world.problemsAfterSave() == [], "QUERY_SEED=\(seed)")
        }
    }
}
