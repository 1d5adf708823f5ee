import Foundation
import TestSupport
import Testing

/// Random programs of two contexts with merge policies, undo and rollback.
///
/// After each save the check of the store finds no problem. At intervals, and at the end, the contexts without changes
/// have the values and relationships of the store.
///
/// The seeds are fixed. `CONTEXT_COUNT=N swift test --filter ContextProgramTests` adds N random ones, and
/// `CONTEXT_SEEDS=FIRST-LAST` tries a range.
@Suite struct ContextProgramTests {
    private static var seeds: [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let bounds = environment["CONTEXT_SEEDS"]?.split(separator: "-").compactMap({ UInt64($0) }),
            bounds.count == 2
        {
            return Array(bounds[0]...max(bounds[0], bounds[1]))
        }
        let count = environment["CONTEXT_COUNT"].flatMap { Int($0) } ?? 0
        return SeededGenerator.seeds(count, after: Array(1...40))
    }

    @Test(arguments: seeds)
    func `contexts and store agree in a random program of two contexts`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let program = ContextProgram(&random, steps: 30)
        guard try program.contradiction() != nil else { return }
        let smallest = try program.shrunk()
        let found = try smallest.contradiction()
        Issue.record(
            """
            \(random): \(found?.text ?? "") after
            \(smallest.policies) \(smallest.kinds)
            \(found?.log.joined(separator: "\n") ?? "")
            """
        )
    }
}
