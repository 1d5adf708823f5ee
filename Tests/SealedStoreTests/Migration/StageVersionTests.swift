import Foundation
import Guarded
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Stages between versions of the same shape, which only change data: the store records the version that it has reached.
@Suite struct StageVersionTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private struct Interruption: Error {}

    private static let plain = [EntityDescription("Person", attributes: [.init("name", .string)])]
    private static let unique = [
        EntityDescription("Person", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
    ]

    /// The stages that ran.
    private let calls = Guarded<[String]>([])

    /// Three versions: the second one has the shape of the first one without duplicates; the third one has a rule.
    private func stages(
        versions: [String?] = ["1.0", "2.0", "3.0"],
        last: [EntityDescription] = unique,
        failing: Bool = false
    ) throws -> [StoreMigrationStage] {
        let calls = calls
        return [
            StoreMigrationStage(try ManagedObjectModel(entities: Self.plain), version: versions[0]),
            StoreMigrationStage(try ManagedObjectModel(entities: Self.plain), version: versions[1]) { coordinator in
                calls.withLock { $0.append("clean") }
                let context = ManagedObjectContext(coordinator: coordinator)
                let person = try #require(coordinator.model.entitiesByName["Person"])
                var names: Set<Value> = []
                for person in try context.fetch(FetchRequest(person), as: ManagedObject.self)
                where !names.insert(person["name"]).inserted { context.delete(person) }
                try context.save()
            },
            StoreMigrationStage(
                try ManagedObjectModel(entities: last),
                version: versions[2],
                didMigrate: { _ in
                    calls.withLock { $0.append("rule") }
                    if failing { throw Interruption() }
                }
            ),
        ]
    }

    private func open(_ entities: [EntityDescription], _ stages: [StoreMigrationStage]) throws -> MigratingStore {
        try MigratingStore(url, entities, options: [SealedStore.migrationStagesOption: stages])
    }

    private func write(version: String?) throws {
        var options: [String: any Sendable] = [:]
        options[SealedStore.modelVersionOption] = version
        let store = try MigratingStore(url, Self.plain, options: options)
        for name in ["a", "b", "a"] { store.insert("Person", ["name": .text(name)]) }
        try store.saveAndClose()
    }

    private func expect(_ expected: [String], _ body: () throws -> Void) throws {
        try body()
        #expect(calls.withLock(\.self) == expected)
    }

    @Test(arguments: [nil, "1.0", "0.9"])
    func `code runs once between versions of the same shape`(version: String?) throws {
        try write(version: version)
        for _ in 0..<2 {
            try expect(["clean", "rule"]) {
                let store = try open(Self.unique, try stages())
                #expect(try store.values("Person", "name") == [.text("a"), .text("b")])
                #expect(try store.problems() == [])
                try store.close()
            }
        }
    }

    @Test func `an interrupted plan continues behind the stage that changed only data`() throws {
        try write(version: "1.0")
        #expect(throws: Interruption.self) { try open(Self.unique, try stages(failing: true)) }
        try expect(["clean", "rule", "rule"]) { try open(Self.unique, try stages()).close() }
    }

    @Test func `code of the last version runs once if the version has the shape of the previous one`() throws {
        try write(version: nil)
        for _ in 0..<2 {
            try expect(["clean", "rule"]) {
                let store = try open(Self.plain, try stages(last: Self.plain))
                #expect(try store.values("Person", "name") == [.text("a"), .text("b")])
                try store.close()
            }
        }
    }

    @Test func `a new store has the last version`() throws {
        for _ in 0..<2 { try expect([]) { try open(Self.plain, try stages(last: Self.plain)).close() } }
        // The code of a stage runs once, also if it ran for a program that declares no version and then one declares it.
        try expect([]) {
            try MigratingStore(
                url,
                Self.plain,
                options: [
                    SealedStore.migrationStagesOption: try stages(last: Self.plain),
                    SealedStore.modelVersionOption: "3.0",
                ]
            ).close()
        }
    }

    @Test func `a store that is not to be migrated records no version`() throws {
        try write(version: "1.0")
        let last = try stages(last: Self.plain)
        try expect([]) {
            try MigratingStore(
                url,
                Self.plain,
                allowsMigration: false,
                options: [SealedStore.migrationStagesOption: last]
            ).close()
        }
        try expect(["clean", "rule"]) { try open(Self.plain, last).close() }
    }

    @Test func `without versions a store begins behind the last version of its shape`() throws {
        try write(version: nil)
        let problems = try MigratingStore.refusal {
            try open(Self.unique, try stages(versions: ["1.0", nil, "3.0"])).close()
        }
        #expect(problems.map(\.rows) == [1])
        #expect(calls.withLock(\.self) == [])
    }

    private static let invalidVersions = SealedStoreError.invalidOption(
        SealedStore.migrationStagesOption,
        reason: "the versions of the stages have the form 1.2.3, and ascend"
    )

    @Test func `a malformed version is an error`() throws {
        try write(version: nil)
        #expect(throws: Self.invalidVersions) {
            try open(Self.unique, try stages(versions: ["1", "two", "3"]))
        }
    }

    @Test func `a store of no version enters behind the recorded one`() throws {
        let changed = [
            EntityDescription(
                "Person",
                attributes: [.init("name", .string), .init("later", .string, isOptional: true)],
                uniquenessConstraints: [["name"]]
            )
        ]
        let store = try MigratingStore(url, changed, options: [SealedStore.modelVersionOption: "3.0"])
        store.insert("Person", ["name": .text("a"), "later": .text("kept")])
        try store.saveAndClose()
        let last = [
            EntityDescription(
                "Person",
                attributes: [
                    .init("name", .string), .init("later", .string, isOptional: true),
                    .init("x", .int64, isOptional: true),
                ],
                uniquenessConstraints: [["name"]]
            )
        ]
        let next = try open(last, try stages(last: last))
        #expect(try next.values("Person", "later") == [.text("kept")])
        #expect(calls.withLock(\.self) == [])
    }

    @Test func `versions that do not ascend are an error`() throws {
        try write(version: nil)
        for versions in [["1", "1.0", "2"], ["2", "1", "3"]] {
            #expect(throws: Self.invalidVersions) {
                try open(Self.unique, try stages(versions: versions))
            }
        }
        #expect(calls.withLock(\.self) == [])
    }

    @Test func `a store of no version enters at a version that keeps all data of a later one`() throws {
        let person = { (names: [String]) in
            [EntityDescription("Person", attributes: names.map { .init($0, .string, isOptional: true) })]
        }
        let store = try MigratingStore(url, person(["name", "nickname", "obsolete"]))
        store.insert("Person", ["name": .text("a"), "nickname": .text("kept"), "obsolete": .text("x")])
        try store.saveAndClose()
        let calls = calls
        let last = person(["name", "nickname", "rating", "note"])
        var stages = try [
            person(["name"]), person(["name", "nickname", "rating"]), last,
        ].enumerated().map { position, model in
            StoreMigrationStage(
                try ManagedObjectModel(entities: model),
                didMigrate: { _ in calls.withLock { $0.append("\(position)") } }
            )
        }
        // The code of the stages that it would pass has not run.
        let before = try Data(contentsOf: url)
        #expect {
            try open(last, stages)
        } throws: { error in
            guard case SealedStoreError.skippedStages(["1", "2"], let differences) = error else { return false }
            return !differences.isEmpty && String(describing: error).contains("of the stages to version 1, 2")
        }
        #expect(try Data(contentsOf: url) == before && calls.withLock(\.self) == [])
        for position in 0...1 { stages[position].admitsOtherModels = true }
        let next = try open(last, stages)
        #expect(try next.values("Person", "nickname") == [.text("kept")])
        #expect(calls.withLock(\.self) == ["2"])
        #expect(try next.problems() == [])
    }

    @Test func `a store of no version passes stages without code`() throws {
        try write(version: nil)
        let person = { (names: [String]) in
            [EntityDescription("Person", attributes: names.map { .init($0, .string, isOptional: true) })]
        }
        let last = person(["name", "later", "note"])
        let calls = calls
        let code: StoreMigrationStage.Code = { _ in calls.withLock { $0.append("last") } }
        let stages = try [person(["name"]), person(["name", "later"]), last].enumerated().map { position, model in
            StoreMigrationStage(
                try ManagedObjectModel(entities: model),
                version: "\(position + 1)",
                didMigrate: position == 2 ? code : nil
            )
        }
        try open(last, stages).close()
        #expect(calls.withLock(\.self) == ["last"])
    }

    @Test func `the error of a later stage has the version that the store has reached`() throws {
        try write(version: "1.0")
        let duplicates = [
            MigrationProblem(entity: "Person", property: nil, kind: .duplicates(properties: ["name"]), rows: 1)
        ]
        let stages = try [Self.plain, Self.plain, Self.unique].enumerated().map { position, model in
            StoreMigrationStage(try ManagedObjectModel(entities: model), version: "\(position + 1).0")
        }
        #expect(throws: SealedStoreError.stoppedMigration(reached: "2.0", problems: duplicates)) {
            try open(Self.unique, stages)
        }
        // No stage runs before the error.
        #expect(throws: SealedStoreError.cannotMigrate(duplicates)) { try open(Self.unique, stages) }
        #expect(try SealedStore.recordedModel(of: MigratingStore.description(url)).version == "2.0")
    }

    @Test func `a plan does not run on a store that another program has migrated to a later version`() throws {
        try write(version: "4.0")
        #expect(throws: SealedStoreError.newerModel(found: "4.0", supported: "3.0")) {
            try open(Self.unique, try stages())
        }
        #expect(calls.withLock(\.self) == [])
    }

    @Test func `each stage has its own default values`() throws {
        try write(version: nil)
        let rated = { (name: String, earlier: String?) in
            [
                EntityDescription(
                    "Person",
                    attributes: [.init("name", .string), .init(name, .int64, renamingIdentifier: earlier)]
                )
            ]
        }
        let values = { (name: String, value: Int64) -> SealedStore.DefaultValues in
            { $1 == name ? .integer(value) : nil }
        }
        let last = rated("stars", "rating")
        let stages = [
            StoreMigrationStage(try ManagedObjectModel(entities: Self.plain)),
            StoreMigrationStage(
                try ManagedObjectModel(entities: rated("rating", nil)),
                defaultValues: values("rating", 3)
            ),
            StoreMigrationStage(try ManagedObjectModel(entities: last), defaultValues: values("stars", 9)),
        ]
        let store = try MigratingStore(
            url,
            last,
            options: [SealedStore.migrationStagesOption: stages, SealedStore.defaultValuesOption: values("stars", 9)]
        )
        #expect(try store.values("Person", "stars") == Array(repeating: .integer(3), count: 3))
        #expect(try store.problems() == [])
    }
}
