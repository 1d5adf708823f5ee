import Foundation
import ObjectGraph
import TestSupport
import Testing

/// `sealed migrate`.
@Suite struct MigrateCommandTests {
    private let folder = TemporaryFolder()
    private var old: URL { folder.file("old.store") }
    private var new: URL { folder.file("new.store") }

    private static let first = [
        EntityDescription("Trip", attributes: [.init("name", .string)]),
        EntityDescription("Stop", attributes: [.init("number", .int64)]),
    ]
    private static let second = [
        EntityDescription("Journey", attributes: [.init("name", .string)], renamingIdentifier: "Trip"),
        EntityDescription("Stop", attributes: [.init("number", .string), .init("note", .string, isOptional: true)]),
    ]
    private static let unique = [
        EntityDescription("Trip", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]]),
        EntityDescription("Stop", attributes: [.init("number", .int64), .init("note", .string)]),
    ]

    private func write() throws {
        try StoreFixture.create(
            old,
            Self.first,
            [("Trip", ["name": .text("Alps")]), ("Trip", ["name": .text("Alps")]), ("Stop", ["number": .integer(7)])]
        )
    }

    @Test func `a dry run shows the steps and changes nothing`() throws {
        try write()
        try StoreFixture.create(new, Self.second)
        let before = try folder.contents()
        let result = try Tool.run("migrate", old.path, "--to", new.path, "--dry-run", "--sql")
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.contains("entity 'Journey' was 'Trip'"))
        #expect(lines.contains("rebuild table Stop (1 row(s))"))
        #expect(lines.contains(#"ALTER TABLE "Trip" RENAME TO "Journey";"#))
        #expect(!lines.contains("problems") && !lines.contains("migrated"))
        #expect(try folder.contents() == before)
    }

    @Test func `a dry run counts the problems`() throws {
        try write()
        try StoreFixture.create(new, Self.unique)
        let before = try folder.contents()
        let result = try Tool.run("migrate", old.path, "--to", new.path, "--dry-run")
        #expect(result.status == 1)
        #expect(result.output.contains("Trip.name: the same values as another row"))
        #expect(result.output.contains("Stop.note: no value for a required property"))
        #expect(result.output.contains("(1 row(s))"))
        #expect(!result.output.contains("Alps"))
        #expect(try folder.contents() == before)
        let migrating = try Tool.run("migrate", old.path, "--to", new.path)
        #expect(migrating.status == 1)
        #expect(try folder.contents() == before)
    }

    @Test func `a migration gives the store the model and the version of the target`() throws {
        try write()
        try StoreFixture.create(new, Self.second, passphrase: "other", version: "2.1")
        let variables = Tool.environment.merging(["SEALED_MODEL_PASSPHRASE": "other"]) { $1 }
        let result = try Tool.run("migrate", old.path, "--to", new.path, environment: variables)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.hasSuffix("migrated\n"))
        let again = try Tool.run("migrate", old.path, "--to", new.path, environment: variables)
        #expect(again.output == "the store has this model\n")
        let context = try StoreFixture.open(old, Self.second, version: "2.1")
        let stop = try #require(context.model.entitiesByName["Stop"])
        #expect(try context.fetch(FetchRequest(stop), as: ManagedObject.self).map { $0["number"] } == [.text("7")])
        try context.coordinator.removeAllStores()
        #expect(throws: (any Error).self) { try StoreFixture.open(old, Self.second, version: "2.0") }
    }

    @Test func `indexes and rules of the target are added`() throws {
        try write()
        var model = Self.first
        model[0].indexes = [.init(["name"], kind: .fullText(.init()))]
        model[1].renamingIdentifier = "Halt"
        try StoreFixture.create(new, model)
        let dryRun = try Tool.run("migrate", old.path, "--to", new.path, "--dry-run")
        #expect(dryRun.output.hasPrefix("steps\n  build index Trip.name\n  record model\n"))
        let result = try Tool.run("migrate", old.path, "--to", new.path)
        #expect(result.status == 0 && result.output.hasSuffix("migrated\n"))
        #expect(try Tool.run("migrate", old.path, "--to", new.path).output == "the store has this model\n")
    }

    @Test func `an option merges duplicates`() throws {
        try write()
        let model = [
            EntityDescription("Trip", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]]),
            EntityDescription("Stop", attributes: [.init("number", .int64)]),
        ]
        try StoreFixture.create(new, model)
        let result = try Tool.run("migrate", old.path, "--to", new.path, "--keep-first", "Trip")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("merge duplicates Trip.name (1 row(s))"))
        let context = try StoreFixture.open(old, model)
        #expect(try context.count(FetchRequest(#require(context.model.entitiesByName["Trip"]))) == 1)
        let unknown = try Tool.run("migrate", old.path, "--to", new.path, "--keep-first", "Trips")
        #expect(unknown.status == 64 && unknown.errors.contains("no entity 'Trips'"))
    }

    @Test func `a wrong passphrase and a file that is no store are errors, and nothing is created`() throws {
        try write()
        try StoreFixture.create(new, Self.second)
        let before = try folder.contents()
        #expect(
            try Tool.run("migrate", old.path, "--to", new.path, environment: ["SEALED_PASSPHRASE": "wrong"]).status
                == 77
        )
        let missing = folder.file("missing.store").path
        #expect(try Tool.run("migrate", old.path, "--to", missing).status == 66)
        #expect(try Tool.run("migrate", missing, "--to", new.path, "--dry-run").status == 66)
        #expect(try Tool.run("migrate", missing, "--to", new.path).status == 66)
        #expect(try folder.contents() == before)
    }
}
