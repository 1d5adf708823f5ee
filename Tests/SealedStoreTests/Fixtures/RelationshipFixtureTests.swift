import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Stores with all kinds of relationships that were written and migrated by earlier versions of this package.
@Suite("Migrated stores of earlier versions") struct RelationshipFixtureTests {
    static let fixtures = [
        FixtureTests.Fixture(name: "format-1-relationships-passphrase.store", key: .passphrase("format 1")),
        FixtureTests.Fixture(
            name: "format-1-relationships-raw.store",
            key: try! .raw(Array(1...32), salt: Array(1...16))
        ),
    ]

    private let folder = TemporaryFolder()

    private func copy(_ fixture: FixtureTests.Fixture) throws -> URL {
        let copy = folder.file(fixture.name)
        try FileManager.default.copyItem(at: fixture.url, to: copy)
        return copy
    }

    private func open(
        _ url: URL,
        _ key: EncryptionKey,
        _ entities: [EntityDescription] = RelationshipFixture.second,
        version: String? = RelationshipFixture.versions[1],
        allowsMigration: Bool = true
    ) throws -> MigratingStore {
        try MigratingStore(
            url,
            entities,
            key: key,
            allowsMigration: allowsMigration,
            options: version.map { [SealedStore.modelVersionOption: $0] } ?? [:]
        )
    }

    @Test(arguments: fixtures) func `opens with its content`(fixture: FixtureTests.Fixture) throws {
        let store = try open(copy(fixture), fixture.key, allowsMigration: false)
        let content = try store.content()
        #expect(content == RelationshipFixture.content)
        #expect(try store.problems() == [])
        let metadata = try store.store().opened.database.read { try StoreContent.read(on: $0).metadata }
        #expect(metadata.migrationCount == 1)
        #expect(metadata.modelVersion?.description == "2.0")
        let person = try #require(store.definitions().first { $0.hasPrefix(#"CREATE TABLE "Person""#) })
        #expect(person.contains(#""height" REAL"#) && person.contains(" DEFAULT "), "\(person)")
        var search = FetchRequest(store.entity("Student"))
        search.search = FullTextSearch(.words("later"), in: ["essay"])
        #expect(try store.context.fetch(search, as: ManagedObject.self).map { $0["number"] } == [.integer(2)])
    }

    @Test(arguments: fixtures) func `refuses an earlier version`(fixture: FixtureTests.Fixture) throws {
        let url = try copy(fixture)
        for version in ["1.0", nil] {
            #expect(throws: SealedStoreError.self) {
                try open(url, fixture.key, RelationshipFixture.first, version: version)
            }
        }
    }

    @Test(arguments: fixtures) func `migrates again, with a rebuilt table`(fixture: FixtureTests.Fixture) throws {
        var entities = RelationshipFixture.second
        entities[1].attributes[3] = AttributeDescription("number", .string)
        entities[0].attributes.removeAll { $0.name == "city" }
        entities[4].relationships[0].isOrdered = false
        let store = try open(copy(fixture), fixture.key, entities, version: "3.0")
        #expect(try store.values("Student", "number") == [.text("0"), .text("1"), .text("2")])
        #expect(try store.objects("Student")[0].members(forRelationship: "courses").count == 2)
        #expect(try store.objects("Teacher")[0].members(forRelationship: "children").count == 2)
        store.context.delete(try store.objects("Student")[0])
        try store.context.save()
        #expect(try store.objects("Passport").count == 1)
        #expect(try store.problems() == [])
    }

    /// Writes the files of the current format that do not exist yet.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["WRITE_FIXTURES"] == "1"), arguments: fixtures)
    func `is written`(fixture: FixtureTests.Fixture) throws {
        guard !FileManager.default.fileExists(atPath: fixture.url.path) else { return }
        let first = try open(fixture.url, fixture.key, RelationshipFixture.first, version: "1.0")
        try RelationshipFixture.fillFirst(first)
        try first.close()
        let second = try open(fixture.url, fixture.key)
        try RelationshipFixture.fillSecond(second)
        let content = try second.content()
        #expect(content == RelationshipFixture.content)
        try second.close()
        #expect(!FileManager.default.fileExists(atPath: fixture.url.path + "-wal"))
    }
}
