import Foundation
import ObjectGraph
import Testing

/// All sequences of steps of two contexts, for each kind of relationship and each merge policy.
///
/// `EXPLORATION_DEPTH=N swift test --filter ContextExplorationTests` explores sequences of N steps; without it, those of
/// one step. Sequences of more than four steps consist of saves, undos, deletions and moves.
@Suite struct ContextExplorationTests {
    private static let depth = ProcessInfo.processInfo.environment["EXPLORATION_DEPTH"].flatMap { Int($0) } ?? 1

    @Test(arguments: ContextModel.Kind.allCases, ContextProgram.policies)
    func `contexts and store agree after all sequences of steps`(kind: ContextModel.Kind, policy: MergePolicy) throws {
        let (states, found) = try ContextExploration(kind: kind, policy: policy, isNarrow: Self.depth > 4)
            .run(depth: Self.depth)
        if Self.depth > 1 { print("\(kind), \(policy): \(states) states of up to \(Self.depth) steps") }
        guard let found else { return }
        Issue.record("\(found.text) after\n\(policy) \(kind)\n\(found.log.joined(separator: "\n"))")
    }
}
