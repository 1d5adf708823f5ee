import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Stores with a history and global identifiers that were written by earlier versions of this package.
@Suite("Histories of earlier versions") struct HistoryFixtureTests {
    static let fixtures = [
        FixtureTests.Fixture(name: "format-1-history-passphrase.store", key: .passphrase("format 1")),
        FixtureTests.Fixture(
            name: "format-1-history-raw.store",
            key: try! .raw(Array(1...32), salt: Array(1...16))
        ),
    ]

    private let folder = TemporaryFolder()

    private func openCopy(of fixture: FixtureTests.Fixture) throws -> MigratingStore {
        let copy = folder.file(fixture.name)
        try FileManager.default.copyItem(at: fixture.url, to: copy)
        return try open(copy, fixture.key)
    }

    private func open(
        _ url: URL,
        _ key: EncryptionKey,
        _ entities: [EntityDescription] = HistoryFixture.entities,
        _ options: [String: any Sendable] = [:]
    ) throws -> MigratingStore {
        try MigratingStore(url, entities, key: key, options: options)
    }

    @Test(arguments: fixtures) func `opens with its objects and transactions`(fixture: FixtureTests.Fixture) throws {
        let store = try openCopy(of: fixture)
        #expect(try store.content() == HistoryFixture.content)
        let transactions = try store.coordinator.history().map(\.description)
        #expect(transactions == HistoryFixture.transactions)
        for object in try store.objects("Plant") + store.objects("Yard") {
            let identifier = try #require(try store.store().globalIdentifier(of: object.managedObjectID))
            #expect(try store.store().objectID(forGlobalIdentifier: identifier) == object.managedObjectID)
        }
        #expect(try store.problems() == [])
    }

    @Test(arguments: fixtures) func `records on, with values and identifiers`(fixture: FixtureTests.Fixture) throws {
        let store = try openCopy(of: fixture)
        let known = try store.coordinator.historyState().lastTransaction
        let plant = store.insert("Plant", ["name": .text("ivy"), "height": .real(2)])
        plant.setDestination(try store.objects("Yard")[0], forRelationship: "yard")
        try store.context.save()
        let new = try store.coordinator.history(HistoryFetchRequest(after: known))
        let expected = ["nil: + Plant 65 [] [height=2.0, name='ivy', yard=1], * Yard 1: leading [] []"]
        #expect(new.map(\.description) == expected)
        #expect(try store.store().globalIdentifier(of: plant.managedObjectID) != nil)
        #expect(try store.problems() == [])
    }

    @Test(arguments: fixtures) func `keeps its history in a migration`(fixture: FixtureTests.Fixture) throws {
        try openCopy(of: fixture).close()
        var entities = HistoryFixture.entities
        entities[1].attributes[1] = AttributeDescription("size", .double, renamingIdentifier: "height")
        let store = try open(folder.file(fixture.name), fixture.key, entities)
        let changes = try #require(try store.coordinator.history().last).changes
        #expect(changes[0].updatedProperties.map(\.name) == ["size"])
        #expect(changes[0].values.new == ["size": .real(0.25)] && changes[0].values.old == ["size": .real(0.5)])
        #expect(try store.problems() == [])
    }

    /// Writes the files of the current format that do not exist yet.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["WRITE_FIXTURES"] == "1"), arguments: fixtures)
    func `is written`(fixture: FixtureTests.Fixture) throws {
        guard !FileManager.default.fileExists(atPath: fixture.url.path) else { return }
        let store = try open(
            fixture.url,
            fixture.key,
            HistoryFixture.entities,
            [SealedStore.historyOption: HistoryFixture.options]
        )
        try HistoryFixture.fill(store)
        try store.close()
        #expect(!FileManager.default.fileExists(atPath: fixture.url.path + "-wal"))
    }
}
