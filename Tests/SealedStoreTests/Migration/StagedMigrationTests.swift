import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Versions of a model with code between them: duplicates are removed before a uniqueness rule, a name is split into
/// two.
@Suite struct StagedMigrationTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private struct Interruption: Error {}

    private static let first = [EntityDescription("Person", attributes: [.init("name", .string)])]
    private static let second = [
        EntityDescription("Person", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
    ]
    private static let third = [
        EntityDescription(
            "Person",
            attributes: [
                .init("name", .string), .init("given", .string, isOptional: true),
                .init("family", .string, isOptional: true),
            ],
            uniquenessConstraints: [["name"]]
        )
    ]

    private static func people(_ coordinator: PersistentStoreCoordinator) throws -> (
        ManagedObjectContext, [ManagedObject]
    ) {
        let context = ManagedObjectContext(coordinator: coordinator)
        let person = coordinator.model.entitiesByName["Person"]!
        return (context, try context.fetch(FetchRequest(person), as: ManagedObject.self))
    }

    private static func stages(failing: Bool = false) throws -> [StoreMigrationStage] {
        [
            StoreMigrationStage(try ManagedObjectModel(entities: first)),
            StoreMigrationStage(try ManagedObjectModel(entities: second)) { coordinator in
                let (context, people) = try people(coordinator)
                var names: Set<Value> = []
                for person in people where !names.insert(person["name"]).inserted { context.delete(person) }
                try context.save()
            },
            StoreMigrationStage(
                try ManagedObjectModel(entities: third),
                didMigrate: { coordinator in
                    let (context, people) = try people(coordinator)
                    for person in people {
                        guard case .text(let name) = person["name"] else { continue }
                        let words = name.split(separator: " ").map { Value.text(String($0)) }
                        (person["given"], person["family"]) = (words[0], words[1])
                    }
                    try context.save()
                    let saved = try context.count(
                        FetchRequest(
                            coordinator.model.entitiesByName["Person"]!,
                            predicate: .comparison(
                                .equal,
                                .path(coordinator.model.entitiesByName["Person"]!.propertiesByName["given"]!),
                                .literal(.text("Ada"))
                            )
                        )
                    )
                    #expect(saved == 1)
                    if failing { throw Interruption() }
                }
            ),
        ]
    }

    private func write() throws {
        let store = try MigratingStore(url, Self.first)
        for name in ["Ada Lovelace", "Alan Turing", "Ada Lovelace"] { store.insert("Person", ["name": .text(name)]) }
        try store.saveAndClose()
    }

    @Test func `code runs on the old and on the new model`() throws {
        try write()
        let store = try MigratingStore(
            url,
            Self.third,
            options: [SealedStore.migrationStagesOption: Self.stages()]
        )
        #expect(try store.values("Person", "family") == [.text("Lovelace"), .text("Turing")])
        store.insert("Person", ["name": .text("Grace Hopper")])
        try store.context.save()
        #expect(try store.problems() == [])
    }

    @Test func `an error rolls its stage back, and the stages before it stay`() throws {
        try write()
        #expect(throws: Interruption.self) {
            try SealedStore.migrate(MigratingStore.description(url), through: Self.stages(failing: true))
        }
        let second = try MigratingStore(url, Self.second, allowsMigration: false)
        #expect(try second.values("Person", "name") == [.text("Ada Lovelace"), .text("Alan Turing")])
        #expect(try second.problems() == [])
        try second.close()
        try SealedStore.migrate(MigratingStore.description(url), through: Self.stages())
        let third = try MigratingStore(url, Self.third, allowsMigration: false)
        #expect(try third.values("Person", "given") == [.text("Ada"), .text("Alan")])
        #expect(try third.problems() == [])
    }

    @Test func `a store of no version enters where inference leads`() throws {
        let store = try MigratingStore(
            url,
            [EntityDescription("Person", attributes: [.init("name", .string), .init("x", .int64)])]
        )
        for name in ["Ada Lovelace", "Ada Lovelace"] {
            store.insert("Person", ["name": .text(name), "x": .integer(1)])
        }
        try store.saveAndClose()
        try SealedStore.migrate(MigratingStore.description(url), through: Self.stages())
        let third = try MigratingStore(url, Self.third, allowsMigration: false)
        #expect(try third.values("Person", "given") == [.text("Ada")])
    }

    @Test func `each of several stores passes the stages with its own entities, under their earlier names`() throws {
        let models = try [
            ManagedObjectModel(entities: [
                EntityDescription("Trip", attributes: [.init("name", .string)]),
                EntityDescription("Old", attributes: [.init("x", .int64)]),
                EntityDescription("Log", attributes: [.init("text", .string)]),
            ]),
            ManagedObjectModel(entities: [
                EntityDescription("Journey", attributes: [.init("name", .string)], renamingIdentifier: "Trip"),
                EntityDescription(
                    "Log",
                    attributes: [.init("text", .string), .init("n", .int64, defaultValue: .integer(1))]
                ),
            ]),
            ManagedObjectModel(entities: [
                EntityDescription("Route", attributes: [.init("name", .data)], renamingIdentifier: "Journey"),
                EntityDescription("Entry", attributes: [.init("text", .string)], renamingIdentifier: "Log"),
            ]),
        ]
        SealedStore.register()
        let logs = folder.file("b.store")
        let open = { (model: ManagedObjectModel, names: [Set<String>], stages: [StoreMigrationStage]) in
            let coordinator = PersistentStoreCoordinator(model: model)
            for (url, names) in zip([url, logs], names) {
                var options: [String: any Sendable] = [:]
                if !stages.isEmpty { options[SealedStore.migrationStagesOption] = stages }
                var description = try MigratingStore.description(url, options: options)
                description.entityNames = names
                try coordinator.addPersistentStore(description)
            }
            return ManagedObjectContext(coordinator: coordinator)
        }
        let first = try open(models[0], [["Trip", "Old"], ["Log"]], [])
        for (entity, name) in [("Trip", "name"), ("Log", "text")] {
            ManagedObject(entity: first.model.entitiesByName[entity]!, insertInto: first)[name] = .text(entity)
        }
        try first.save()
        try first.coordinator.removeAllStores()
        var stages = models.map { StoreMigrationStage($0) }
        stages[1].didMigrate = { coordinator in
            let context = ManagedObjectContext(coordinator: coordinator)
            // The coordinator has only the store that is migrated.
            for name in ["Journey", "Log"] {
                let objects = try? context.fetch(
                    FetchRequest(coordinator.model.entitiesByName[name]!),
                    as: ManagedObject.self
                )
                for object in objects ?? [] where name == "Journey" { object["name"] = .text("changed") }
            }
            try context.save()
        }
        let last = try open(models[2], [["Route"], ["Entry"]], stages)
        let values = try [("Route", "name"), ("Entry", "text")].map { entity, name in
            try last.fetch(FetchRequest(last.model.entitiesByName[entity]!), as: ManagedObject.self).map { $0[name] }
        }
        #expect(values == [[.blob(Data("changed".utf8))], [.text("Log")]])
        for entity in last.model.entities {
            let store = try last.coordinator.store(for: entity).store as? SealedStore
            #expect(try store?.check().map(\.description) == [])
        }
    }
}
