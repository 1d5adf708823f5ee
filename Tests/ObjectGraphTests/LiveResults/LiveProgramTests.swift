import Foundation
@testable import ObjectGraph
import TestSupport
import Testing

/// Random programs of three writers, with undo, rollback, and callbacks that save and replace queries.
///
/// The seeds are fixed. `LIVE_COUNT=N swift test --filter LiveProgramTests` adds N random ones.
@Suite struct LiveProgramTests {
    private static let count = ProcessInfo.processInfo.environment["LIVE_COUNT"].flatMap { Int($0) } ?? 0

    @Test(arguments: SeededGenerator.seeds(count, after: Array(1...20)))
    func `live results equal a fetch after each check of a random program`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let program = LiveProgram(&random, steps: 25, checkingAfter: random.pick([1, 3, 5]) ?? 1)
        guard try program.difference() != nil else { return }
        let smallest = try program.shrunk()
        Issue.record("\(random): \(try smallest.difference() ?? ""), after \(smallest)")
    }
}
