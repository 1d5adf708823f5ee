import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Stores that were written by earlier versions of this package and are kept as files. Every later version opens them.
@Suite("Stores of earlier versions") struct FixtureTests {
    /// A kept file.
    struct Fixture: CustomTestStringConvertible, Sendable {
        let name: String
        let key: EncryptionKey

        var testDescription: String { name }
        var url: URL { folder.appending(path: name) }

        private var folder: URL { URL(filePath: #filePath).appending(path: "../Files").standardizedFileURL }
    }

    static let fixtures = [
        Fixture(name: "format-1-passphrase.store", key: .passphrase("format 1")),
        Fixture(name: "format-1-raw.store", key: try! .raw(Array(1...32), salt: Array(1...16))),
    ]

    private let folder = TemporaryFolder()

    private func open(
        _ url: URL,
        _ key: EncryptionKey,
        _ entities: [EntityDescription] = FixtureModel.entities
    ) throws -> ManagedObjectContext {
        SealedStore.register()
        let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(entities: entities))
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: url,
                options: [SealedStore.keyOption: key]
            )
        )
        return ManagedObjectContext(coordinator: coordinator)
    }

    /// Opens a copy of a fixture.
    private func open(
        _ fixture: Fixture,
        _ entities: [EntityDescription] = FixtureModel.entities
    ) throws -> ManagedObjectContext {
        let copy = folder.file(fixture.name)
        try FileManager.default.copyItem(at: fixture.url, to: copy)
        return try open(copy, fixture.key, entities)
    }

    private func objects(_ name: String, in context: ManagedObjectContext, by attribute: String) throws
        -> [ManagedObject]
    {
        let entity = try #require(context.model.entitiesByName[name])
        let property = try #require(entity.propertiesByName[attribute])
        return try context.fetch(FetchRequest(entity, sort: [QuerySort(.path(property))]), as: ManagedObject.self)
    }

    private static func fill(_ context: ManagedObjectContext) throws {
        func insert(_ name: String, _ values: [String: Value]) -> ManagedObject {
            let object = ManagedObject(entity: context.model.entitiesByName[name]!, insertInto: context)
            for (name, value) in values { object[name] = value }
            return object
        }
        for position in 0..<3 {
            let object = insert("Values", [:])
            for type in FixtureModel.types {
                let value = FixtureModel.values(of: type)[position]
                object["\(type.rawValue)Value"] = value
                if position > 0 { object["\(type.rawValue)Optional"] = value }
            }
        }
        let box = insert("Box", ["label": .text("box")])
        let tags = ["red", "green"].map { insert("Tag", ["name": .text($0)]) }
        let items = (0..<4).map { number in
            var values: [String: Value] = ["name": .text("item \(number)"), "rank": .integer(Int64(number))]
            if number % 2 == 1 { values["weight"] = .real(Double(number) / 2) }
            return insert(number % 2 == 1 ? "SpecialItem" : "Item", values)
        }
        box.setMembers(items.reversed(), forRelationship: "items")
        box.setMembers([items[1], items[2]], forRelationship: "favourites")
        for item in items { item.setMembers(tags, forRelationship: "tags") }
        items[0].setDestination(items[3], forRelationship: "next")
        for number in 0..<3 {
            _ = insert(
                "Place",
                [
                    "latitude": .real(Double(number)), "longitude": .real(Double(-number)),
                    "text": .text("place number \(number)"),
                ]
            )
        }
        try context.save()
    }

    private func expectContent(_ context: ManagedObjectContext) throws {
        let values = try objects("Values", in: context, by: "int64Value")
            .sorted { $0.managedObjectID.key < $1.managedObjectID.key }
        #expect(values.count == 3)
        for (position, object) in values.enumerated() {
            for type in FixtureModel.types {
                let expected = stored(FixtureModel.values(of: type)[position])
                #expect(stored(object["\(type.rawValue)Value"]) == expected, "\(type)")
                #expect(stored(object["\(type.rawValue)Optional"]) == (position > 0 ? expected : .null), "\(type)")
            }
        }
        let box = try #require(objects("Box", in: context, by: "label").first)
        let names = { (members: [any GraphObject]) in members.compactMap { ($0 as? ManagedObject)?["name"] } }
        #expect(names(box.members(forRelationship: "items")) == (0..<4).reversed().map { .text("item \($0)") })
        #expect(Set(names(box.members(forRelationship: "favourites"))) == [.text("item 1"), .text("item 2")])
        let items = try objects("Item", in: context, by: "name")
        #expect(items.map { $0.managedObjectID.entity.name } == ["Item", "SpecialItem", "Item", "SpecialItem"])
        #expect(items.map { $0.members(forRelationship: "tags").count } == [2, 2, 2, 2])
        #expect(items[0].destination(forRelationship: "next") === items[3])
        #expect(items[3]["weight"] == .real(1.5))
        #expect(try objects("Place", in: context, by: "text").map { $0["latitude"] } == [.real(0), .real(1), .real(2)])
        let store = try context.coordinator.store(for: context.model.entities[0]).store as? SealedStore
        #expect(try store?.check().map(\.description) == [])
    }

    /// A value in the form of a row.
    private func stored(_ value: Value) -> Value {
        guard case .uuid(let uuid) = value else { return value }
        return .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })
    }

    @Test(arguments: fixtures) func `opens with its content`(fixture: Fixture) throws {
        try expectContent(open(fixture))
    }

    @Test(arguments: fixtures) func `takes writes`(fixture: Fixture) throws {
        let context = try open(fixture)
        for place in try objects("Place", in: context, by: "text") { context.delete(place) }
        let tag = ManagedObject(entity: context.model.entitiesByName["Tag"]!, insertInto: context)
        tag["name"] = .text("blue")
        tag.setMembers(try objects("Item", in: context, by: "name"), forRelationship: "items")
        try context.save()
        let again = ManagedObjectContext(coordinator: context.coordinator)
        #expect(try objects("Tag", in: again, by: "name").first?.members(forRelationship: "items").count == 4)
        let store = try again.coordinator.store(for: again.model.entities[0]).store as? SealedStore
        #expect(try store?.check().map(\.description) == [])
    }

    @Test(arguments: fixtures) func `migrates to a later model`(fixture: Fixture) throws {
        var entities = FixtureModel.entities
        entities[5].attributes.append(AttributeDescription("note", .string, isOptional: true))
        entities[5].attributes[2].name = "description"
        entities[5].attributes[2].renamingIdentifier = "text"
        entities[5].indexes = []
        let context = try open(fixture, entities)
        #expect(
            try objects("Place", in: context, by: "description").map { $0["description"] }
                == (0..<3).map { .text("place number \($0)") }
        )
        #expect(try objects("Item", in: context, by: "name").count == 4)
    }

    /// Writes the files of the current format that do not exist yet.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["WRITE_FIXTURES"] == "1"), arguments: fixtures)
    func `is written`(fixture: Fixture) throws {
        guard !FileManager.default.fileExists(atPath: fixture.url.path) else { return }
        try FileManager.default.createDirectory(
            at: fixture.url.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        let context = try open(fixture.url, fixture.key)
        try Self.fill(context)
        try context.coordinator.removeAllStores()
        #expect(!FileManager.default.fileExists(atPath: fixture.url.path + "-wal"))
    }
}
