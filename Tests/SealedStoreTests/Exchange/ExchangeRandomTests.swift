import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Random saves in three stores that exchange their changes in random order: all end with the same content.
@Suite("Agreement of stores that exchange their changes") struct ExchangeRandomTests {
    private static let policies: [MergePolicy] = [
        .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    @Test(arguments: SeededGenerator.seeds(count(6))) func `all stores end equal`(seed: UInt64) throws {
        try exchange(SeededGenerator(seed: seed), Branch.declarations(), perform)
    }

    @Test(arguments: SeededGenerator.seeds(count(6), after: regressions)) func `all stores of a random model end equal`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let declarations = RandomExchangeModel.declarations(&random)
        try exchange(random, declarations) { try RandomEdits.perform($0, &$1) }
    }

    private static let regressions: [UInt64] = [4_087_041, 6_174_135, 8_707_707]

    /// `EXCHANGE_SEEDS` is the number of seeds of each test.
    private static func count(_ usual: Int) -> Int {
        ProcessInfo.processInfo.environment["EXCHANGE_SEEDS"].flatMap { Int($0) } ?? usual
    }

    private func exchange(
        _ generator: SeededGenerator,
        _ declarations: [EntityDescription],
        _ edit: (Branch, inout SeededGenerator) throws -> Void
    ) throws {
        var random = generator
        let world = try ExchangeWorld(declarations)
        func fail(_ problem: String, _ step: Int) {
            Issue.record("\(random), step \(step): \(problem)\n\(RandomExchangeModel.description(declarations))")
        }
        for step in 0..<40 {
            let branch = random.pick(world.branches)!
            // A step that violates a rule changes nothing.
            do { try edit(branch, &random) } catch is ObjectGraphError {}
            guard random.chance(35) else { continue }
            let policy = random.pick(Self.policies)!
            do {
                try world.receive(branch, policy)
                guard random.chance(80), let changes = try branch.coordinator.changeSet(sizeLimit: limit(&random))
                else {
                    continue
                }
                // Its answer is lost, or it does not arrive.
                if random.chance(80) { try world.append(changes) }
            } catch {
                return fail("\(policy): \(error)", step)
            }
        }
        var isQuiet = false
        for _ in 0..<20 where !isQuiet {
            let count = world.log.changeSets.count
            do {
                for branch in world.branches {
                    let policy = random.pick(Self.policies)!
                    try world.receive(branch, policy)
                    while let changes = try branch.coordinator.changeSet(sizeLimit: limit(&random)) {
                        try world.append(changes)
                        try world.receive(branch, policy)
                    }
                }
            } catch {
                return fail("at the end: \(error)", 40)
            }
            isQuiet = world.log.changeSets.count == count
        }
        #expect(isQuiet, "\(random)")
        let contents = try world.branches.map { try $0.content() }
        for (other, branch) in zip(contents, world.branches) {
            #expect(differences(contents[0], other) == [], "\(random)")
            #expect(try branch.store.check().map(\.description) == [], "\(random)")
        }
    }

    private func limit(_ random: inout SeededGenerator) -> Int {
        random.chance(50) ? ChangeSet.defaultSizeLimit : Int.random(in: 1...2000, using: &random)
    }

    private func differences(_ left: [String: [String: String]], _ right: [String: [String: String]]) -> [String] {
        Set(left.keys).union(right.keys).sorted().flatMap { object -> [String] in
            guard let before = left[object], let after = right[object] else { return ["\(object): missing"] }
            return before.keys.filter { before[$0] != after[$0] }.sorted().map {
                "\(object).\($0): \(before[$0] ?? "") \(after[$0] ?? "")"
            }
        }
    }

    // MARK: Operations

    private func perform(_ branch: Branch, _ random: inout SeededGenerator) throws {
        guard random.chance(15) else { return try RandomEdits.perform(branch, &random) }
        let context = ManagedObjectContext(coordinator: branch.coordinator)
        context.mergePolicy = .mergeByPropertyObjectTrump
        try performBatch(branch, context, &random)
    }

    private func performBatch(
        _ branch: Branch,
        _ context: ManagedObjectContext,
        _ random: inout SeededGenerator
    ) throws {
        let item = branch.entity("Item")
        let categories = try context.fetchIDs(FetchRequest(branch.entity("Category"))).map(\.key)
        let category: Value = random.pick(categories).map { .integer($0) } ?? .null
        let name = QueryExpression.path(item.propertiesByName["name"]!)
        let predicate = QueryExpression.comparison(.less, name, .literal(.text("\(random.next() % 8)")))
        switch random.next() % 3 {
        case 0:
            let objects = (0..<3).map { ["name": Value.text("batch \($0)"), "category": category] }
            try context.execute(BatchInsertRequest(item, objects: objects))
        case 1:
            var request = BatchUpdateRequest(item, propertiesToUpdate: ["category": .literal(category)])
            request.predicate = predicate
            try context.execute(request)
        default: try context.execute(BatchDeleteRequest(item, predicate: predicate))
        }
    }
}
