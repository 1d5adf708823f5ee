import Foundation
import ObjectGraph
import TestSupport
import Testing

/// All sequences of steps of small worlds. `EXCHANGE_STEPS` is the number of steps, `EXCHANGE_WORLDS` that of worlds after
/// which the exploration of a model ends, `EXCHANGE_NARROW` leaves out a part of the steps, and `EXCHANGE_MODEL` selects
/// models by a part of their description.
@Suite("Exhaustive exploration of small exchanges", .serialized) struct ExchangeExplorationTests {
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
    private static let steps = number("EXCHANGE_STEPS") ?? 3
    private static let worlds = number("EXCHANGE_WORLDS") ?? 20
    private static let policies: [MergePolicy] = [
        .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]
    private static var models: [ExploredModel] {
        guard let name = ProcessInfo.processInfo.environment["EXCHANGE_MODEL"] else { return ExploredModel.all }
        return ExploredModel.all.filter { $0.description.contains(name) }
    }
    /// By default, each model is explored under one of the policies.
    private static var cases: [(Int, ExploredModel)] { Array(models.enumerated()) }

    @Test(arguments: cases) func `two stores agree`(number: Int, model: ExploredModel) throws {
        let all = ProcessInfo.processInfo.environment["EXCHANGE_STEPS"] != nil
        let policies = all ? Self.policies : [Self.policies[number % 4]]
        for policy in policies {
            try explore(model, policy, count: 2)
        }
    }

    @Test(.enabled(if: number("EXCHANGE_STEPS") != nil), arguments: cases)
    func `three stores agree`(number: Int, model: ExploredModel) throws {
        try explore(model, Self.policies[number % 4], count: 3)
    }

    /// `EXCHANGE_WALKS` is the number of walks of each model.
    @Test(.enabled(if: number("EXCHANGE_WALKS") != nil), arguments: cases)
    func `three stores agree after random steps`(number: Int, model: ExploredModel) throws {
        var random = SeededGenerator()
        let walks = Self.number("EXCHANGE_WALKS") ?? 1
        let policy = Self.policies[(number + 1) % 4]
        let explorer = ExchangeExplorer(model, policy)
        let failure = try explorer.walk(3, base: base(model), steps: 14, walks: walks, &random)
        if let failure { Issue.record("\(model), \(policy), \(random): \(failure)") }
    }

    private func base(_ model: ExploredModel) -> [ExchangeExplorer.Edit] {
        let other: ExchangeExplorer.Edit = model.isReflexive ? .insertAlbum : .insertPhoto(album: 0)
        return [.insertAlbum] + (model.isReflexive && model.isUnique ? [] : [other])
    }

    private func explore(_ model: ExploredModel, _ policy: MergePolicy, count: Int) throws {
        let isNarrow = Self.number("EXCHANGE_NARROW") != nil
        let explorer = ExchangeExplorer(model, policy, isNarrow: isNarrow)
        let failures = try explorer.explore(count, base: base(model), steps: Self.steps, worlds: Self.worlds)
        for failure in failures { Issue.record("\(model), \(policy), \(count) stores: \(failure)") }
        if Self.number("EXCHANGE_STEPS") != nil {
            let (worlds, states) = (explorer.worldCount, explorer.stateCount)
            print("explored: \(model), \(policy), \(count) stores, \(worlds) worlds, \(states) states")
        }
    }
}
