import Foundation
import ObjectGraph
import TestSupport
import Testing

/// Random operations on a context, its store and a plain graph.
///
/// The seeds are new in each run; `SEED=N swift test --filter RandomTests` repeats one.
@Suite struct RandomTests {
    private static let seeds = SeededGenerator.seeds(11, after: [174_198, 625_752, 9_750_851])

    @Test(arguments: StoreKind.allCases, seeds)
    func `context, store and plain graph agree after every operation`(kind: StoreKind, seed: UInt64) throws {
        print("SEED=\(seed)")
        perform(try RandomOperations(kind, seed: seed), seed)
    }

    @Test(arguments: StoreKind.allCases, seeds.prefix(6))
    func `a child, its parent, the store and a plain graph agree`(kind: StoreKind, seed: UInt64) throws {
        print("SEED=\(seed)")
        perform(try RandomOperations(kind, seed: seed, isNested: true), seed)
    }

    private func perform(_ operations: consuming RandomOperations, _ seed: UInt64) {
        for step in 0..<250 {
            do {
                try operations.step()
            } catch {
                Issue.record(
                    """
                    \(error)
                    SEED=\(seed), step \(step), after
                    \(operations.log.suffix(25).joined(separator: "\n"))
                    in the model
                    \(operations.modelDescription)
                    """
                )
                return
            }
        }
    }
}
