import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Random models with random objects, migrated through random next models: the content, or the problems, must be those
/// of the simplest implementation in memory.
///
/// The seeds are new in each run; `SEED=N swift test --filter RandomMigrationTests` repeats one. `MIGRATION_COUNT` is
/// the number of migrations.
@Suite struct RandomMigrationTests {
    private static let migrationsOfStore = 5

    private static let seeds: [UInt64] = {
        let count = ProcessInfo.processInfo.environment["MIGRATION_COUNT"].flatMap { Int($0) } ?? 200
        return SeededGenerator.seeds(max(1, count / migrationsOfStore))
    }()

    @Test func `the content after each migration is that of the reference, or the problems are`() throws {
        var outcomes = (migrated: 0, refused: 0, lost: 0)
        for seed in Self.seeds {
            do {
                var run = try RandomMigration(seed: seed)
                for number in 0..<Self.migrationsOfStore {
                    let problems = try run.step()
                    guard problems.isEmpty else {
                        Issue.record("\(problems.joined(separator: "\n"))\nSEED=\(seed), migration \(number)")
                        return
                    }
                }
                outcomes.migrated += run.migrated
                outcomes.refused += run.refused
                outcomes.lost += run.lost
            } catch {
                Issue.record("\(error)\nSEED=\(seed)")
                return
            }
        }
        print("random migrations: \(outcomes)")
    }
}

/// A store that is migrated through random models, and its expected content.
struct RandomMigration {
    private let folder = TemporaryFolder()
    var random: SeededGenerator
    private(set) var model: ModelSketch
    var content = ReferenceContent()
    private(set) var migrated = 0
    private(set) var refused = 0
    private(set) var lost = 0

    var url: URL { folder.file("a.store") }

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        model = ModelSketch(&random)
        try fill()
    }

    /// Creates the store with random objects.
    private mutating func fill() throws {
        let store = try MigratingStore(url, model.descriptions)
        var objects: [Int: ManagedObject] = [:]
        let concrete = model.entities.filter { !$0.isAbstract }
        for identity in 1...Int.random(in: 1...30, using: &random) {
            guard let entity = random.pick(concrete) else { break }
            let object = store.insert(entity.name, [ModelSketch.identity: .integer(Int64(identity))])
            var reference = ReferenceContent.Object(entity: entity.number)
            for (_, attribute) in model.attributes(of: entity) {
                guard !attribute.isOptional || random.chance(70) else { continue }
                let value = random.pick(ReferenceConversion.samples(attribute.type)) ?? .null
                object[attribute.name] = value
                reference.values[attribute.number] = value
            }
            objects[identity] = object
            content.objects[identity] = reference
        }
        for (declaring, relationship) in model.relationships {
            let owners = identities(of: declaring.number).shuffled(using: &random)
            let members = identities(of: relationship.destination)
            for owner in owners where random.chance(60) {
                guard let object = objects[owner] else { continue }
                if relationship.isToMany {
                    let chosen = members.shuffled(using: &random).prefix(Int.random(in: 0...4, using: &random))
                    object.setMembers(chosen.compactMap { objects[$0] }, forRelationship: relationship.name)
                } else {
                    let chosen = random.pick(members).flatMap { objects[$0] }
                    object.setDestination(chosen, forRelationship: relationship.name)
                }
            }
        }
        // The values of the inverses, which the graph has set.
        for (declaring, relationship) in model.relationships {
            content.pairs[relationship.number] = identities(of: declaring.number).flatMap { owner in
                guard let object = objects[owner] else { return [ReferenceContent.Pair]() }
                let found =
                    relationship.isToMany
                    ? object.members(forRelationship: relationship.name)
                    : [object.destination(forRelationship: relationship.name)].compactMap(\.self)
                return found.compactMap { $0 as? ManagedObject }.map {
                    ReferenceContent.Pair(owner: owner, member: ReferenceContent.identity(of: $0))
                }
            }
            if relationship.isOrdered { content.ordered.insert(relationship.number) }
        }
        try store.saveAndClose()
    }

    private func identities(of entity: Int) -> [Int] {
        content.objects.filter { model.isKind(model.entity($0.value.entity), of: entity) }.map(\.key).sorted()
    }

    /// Migrates the store to a random next model.
    ///
    /// - Returns: The differences from the reference.
    mutating func step() throws -> [String] {
        let next = model.changed(&random)
        let (expected, problems) = content.migrated(from: model, to: next)
        let hasCommonEntity = next.entities.contains { entity in model.entities.contains { $0.number == entity.number }
        }
        guard hasCommonEntity else { return [] }
        let preview = try SealedStore.migrationPreview(
            of: MigratingStore.description(url),
            to: ManagedObjectModel(entities: next.descriptions)
        )
        let found = Set(preview.problems.map(Self.problem))
        // The reference does not know what has no place in a changed hierarchy: the store is refused.
        if found.contains(where: { $0.kind == "lost" }) {
            lost += 1
            _ = try MigratingStore.refusal { _ = try MigratingStore(url, next.descriptions) }
            return try differences(model, content, "after a refusal")
        }
        guard found == problems else {
            return [
                "expected problems: \(problems.sorted(by: Self.isBefore))", "found: \(found.sorted(by: Self.isBefore))",
            ]
                + preview.differences
        }
        guard problems.isEmpty else {
            refused += 1
            let refusal = try MigratingStore.refusal { _ = try MigratingStore(url, next.descriptions) }
            guard refusal == preview.problems else { return ["the store is refused for other problems: \(refusal)"] }
            return try differences(model, content, "after a refusal")
        }
        migrated += 1
        let store = try MigratingStore(url, next.descriptions)
        let checked = try store.problems()
        try store.close()
        (model, content) = (next, expected)
        return try checked + differences(model, content, preview.steps.map(\.description).joined(separator: "; "))
    }

    func differences(_ model: ModelSketch, _ content: ReferenceContent, _ place: String) throws -> [String] {
        let store = try MigratingStore(url, model.descriptions, allowsMigration: false)
        defer { try? store.close() }
        let (expected, found) = (content.lines(model), try content.lines(model, of: store))
        let problems = try store.problems()
        guard expected != found || !problems.isEmpty else { return [] }
        let missing = expected.filter { !found.contains($0) }.map { "- \($0)" }
        let surplus = found.filter { !expected.contains($0) }.map { "+ \($0)" }
        return [place] + problems + missing + surplus
    }

    private static func problem(_ problem: MigrationProblem) -> ReferenceContent.Problem {
        let (kind, rows): (String, Int?) =
            switch problem.kind {
            case .notConvertible: ("type", problem.rows)
            case .missingValue: ("missing", problem.property?.hasPrefix("a") ?? false ? problem.rows : nil)
            case .otherKind: ("other", problem.rows)
            case .abstractEntity: ("abstract", problem.rows)
            case .severalMembers: ("several", nil)
            case .foreignMembers: ("foreign", nil)
            case .negativeZero: ("zero", problem.rows)
            case .duplicates: ("duplicates", nil)
            case .exhaustedKeys: ("keys", nil)
            case .lost: ("lost", problem.rows)
            }
        var property = problem.property
        if case .duplicates(let properties) = problem.kind { property = properties.first }
        return ReferenceContent.Problem(entity: problem.entity, property: property, kind: kind, rows: rows)
    }

    private static func isBefore(_ left: ReferenceContent.Problem, _ right: ReferenceContent.Problem) -> Bool {
        "\(left)" < "\(right)"
    }
}
