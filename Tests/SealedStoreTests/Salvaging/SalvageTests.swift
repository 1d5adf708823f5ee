import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite("The salvage of damaged stores") struct SalvageTests {
    private static let pageByteCount = 4096
    private static let key: EncryptionKey = {
        do { return try .raw((0..<32).map { UInt8($0) }) } catch { preconditionFailure("\(error)") }
    }()

    private let folder = TemporaryFolder()
    private var damaged: URL { folder.file("damaged.store") }

    /// Owners of items with every storage form of relationships, values with overflow pages, and each kind of index.
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Owner",
                attributes: [.init("name", .string)],
                relationships: [
                    .init("items", to: "Item", .many, inverse: "owner"),
                    .init("friends", to: "Owner", .many, inverse: "friends"),
                ],
                uniquenessConstraints: [["name"]]
            ),
            EntityDescription(
                "Item",
                attributes: [
                    .init("number", .int64), .init("price", .double), .init("text", .string),
                    .init("image", .data, isOptional: true),
                ],
                relationships: [
                    .init("owner", to: "Owner", .one, inverse: "items"),
                    .init("tags", to: "Tag", .many, inverse: "items", isOrdered: true),
                ],
                indexes: [.init(["text"], kind: .fullText(FullTextOptions())), .init(["number"])]
            ),
            EntityDescription(
                "Part",
                superentity: "Item",
                attributes: [.init("size", .int64)],
                relationships: [.init("maker", to: "Owner", .one, isOptional: false)]
            ),
            EntityDescription(
                "Tag",
                attributes: [.init("label", .string)],
                relationships: [.init("items", to: "Item", .many, inverse: "tags")]
            ),
        ])
    }

    private struct Opened {
        let coordinator: PersistentStoreCoordinator
        let context: ManagedObjectContext

        init(_ url: URL, key: EncryptionKey = SalvageTests.key) throws {
            SealedStore.register()
            coordinator = PersistentStoreCoordinator(model: try SalvageTests.model())
            try coordinator.addPersistentStore(
                PersistentStoreDescription(
                    type: SealedStore.storeType,
                    url: url,
                    options: [SealedStore.keyOption: key]
                )
            )
            context = ManagedObjectContext(coordinator: coordinator)
        }

        /// The attributes of all objects, by entity and key.
        func objects() throws -> [String: [Int64: [Value]]] {
            var objects: [String: [Int64: [Value]]] = [:]
            for entity in context.model.entities {
                var request = FetchRequest(entity)
                request.includesSubentities = false
                for object in try context.fetch(request, as: ManagedObject.self) {
                    objects[entity.name, default: [:]][object.managedObjectID.key] = entity.properties.compactMap {
                        if case .attribute(let attribute) = $0 { object[attribute.name] } else { nil }
                    }
                }
            }
            return objects
        }
    }

    /// Fills the store and closes it. Deleted objects leave free pages behind.
    private func fill(items: Int = 600) throws -> [String: [Int64: [Value]]] {
        let opened = try Opened(damaged)
        let context = opened.context
        func make(_ entity: String, _ values: [String: Value]) -> ManagedObject {
            let object = ManagedObject(entity: context.model.entitiesByName[entity]!, insertInto: context)
            for (name, value) in values { object[name] = value }
            return object
        }
        let owners = (0..<30).map { make("Owner", ["name": .text("owner \($0)")]) }
        owners[0].setMembers(Array(owners[1...5]), forRelationship: "friends")
        let tags = (0..<20).map { make("Tag", ["label": .text("tag \($0)")]) }
        var extra: [ManagedObject] = []
        for number in 0..<items {
            let isPart = number % 3 == 0
            let item = make(
                isPart ? "Part" : "Item",
                [
                    "number": .integer(Int64(number)), "price": .real(Double(number) * 1.5),
                    "text": .text("item \(number) " + String(repeating: "x", count: number % 97)),
                ]
            )
            if number % 20 == 0 {
                item["image"] = .blob(Data((0..<12_000).map { UInt8(truncatingIfNeeded: $0 &* number) }))
            }
            if isPart {
                item["size"] = .integer(7)
                item.setDestination(owners[(number + 1) % 30], forRelationship: "maker")
            }
            item.setDestination(owners[number % 30], forRelationship: "owner")
            item.setMembers([tags[number % 20], tags[(number + 7) % 20]], forRelationship: "tags")
            if number % 5 == 4, number > items / 2 { extra.append(item) }
        }
        try context.save()
        for item in extra { context.delete(item) }
        try context.save()
        let objects = try Opened(damaged).objects()
        try opened.coordinator.removeAllStores()
        return objects
    }

    private func salvage(to name: String = "new.store", model: ManagedObjectModel? = nil) throws -> SalvageReport {
        try SealedStore.salvage(damaged, key: Self.key, to: folder.file(name), model: model)
    }

    /// The salvaged objects; checks that each of them is one of the store, without a changed value.
    private func objects(
        in name: String = "new.store",
        of original: [String: [Int64: [Value]]],
        _ report: SalvageReport,
        _ comment: Comment
    ) throws -> [String: [Int64: [Value]]] {
        let opened = try Opened(folder.file(name))
        let objects = try opened.objects()
        for (entity, rows) in objects {
            for (key, values) in rows {
                guard let expected = original[entity]?[key] else {
                    Issue.record("\(entity) \(key) was deleted, \(comment)")
                    continue
                }
                #expect(values.count == expected.count)
                for (value, expected) in zip(values, expected) where value != expected {
                    #expect(value == .null, comment)
                    #expect(!(report.entities.first { $0.entity == entity }?.lostValues.isEmpty ?? true), comment)
                }
            }
            #expect(report.entities.first { $0.entity == entity }?.recoveredCount == rows.count, comment)
        }
        #expect(report.check.problems == [], comment)
        try opened.coordinator.removeAllStores()
        return objects
    }

    private func removeNew() throws {
        for name in try folder.names() where name.hasPrefix("new.store") {
            try FileManager.default.removeItem(at: folder.file(name))
        }
    }

    @Test func `a store with a changed byte of its plaintext header is recovered completely`() throws {
        let key = try Self.key.withPlaintextHeader(salt: Array(repeating: 9, count: 16))
        let entities = [EntityDescription("Trip", attributes: [.init("name", .string)])]
        let store = try MigratingStore(damaged, entities, key: key)
        for number in 0..<50 { store.insert("Trip", ["name": .text("\(number)")]) }
        try store.saveAndClose()
        let original = try Data(contentsOf: damaged)
        for offset in 0..<32 {
            var bytes = original
            bytes[offset] ^= 4
            try bytes.write(to: damaged)
            let report = try SealedStore.salvage(damaged, key: key, to: folder.file("new.store"))
            #expect(report.entities.map(\.recoveredCount) == [50], "byte \(offset)")
            #expect(report.check.problems == [], "byte \(offset)")
            #expect(try Data(contentsOf: damaged) == bytes, "byte \(offset)")
            let recovered = try MigratingStore(folder.file("new.store"), entities, key: key)
            #expect(try recovered.objects("Trip").count == 50, "byte \(offset)")
            try recovered.close()
            try removeNew()
        }
    }

    @Test func `an undamaged store is recovered completely, its log included`() throws {
        let original = try fill()
        // A connection that stays open keeps its last commits in the log.
        let other = try Opened(damaged)
        let tag = ManagedObject(entity: other.context.model.entitiesByName["Tag"]!, insertInto: other.context)
        tag["label"] = .text("in the log")
        try other.context.save()
        let report = try salvage()
        #expect(report.isComplete && report.damagedPageCount == 0)
        var expected = original
        expected["Tag"]?[tag.managedObjectID.key] = [.text("in the log")]
        #expect(try objects(of: expected, report, "undamaged") == expected)
        // Relationships, orders and sequences are kept.
        let new = try Opened(folder.file("new.store"))
        let owner = try #require(
            try new.context.fetch(FetchRequest(new.context.model.entitiesByName["Owner"]!), as: ManagedObject.self)
                .first
        )
        #expect(owner.members(forRelationship: "friends").count == 5)
        let item = ManagedObject(entity: new.context.model.entitiesByName["Tag"]!, insertInto: new.context)
        item["label"] = .text("new")
        try new.context.save()
        #expect(item.managedObjectID.key > tag.managedObjectID.key)
        #expect(item.managedObjectID.storeUUID == tag.managedObjectID.storeUUID)
        try other.context.save()
    }

    // A process was killed and left its log, and a backup took the place of the file.
    @Test func `a store beside the log of another file is recovered without the log`() throws {
        let original = try fill(items: 60)
        let other = folder.file("other.store")
        let opened = try Opened(other)
        let tag = ManagedObject(entity: opened.context.model.entitiesByName["Tag"]!, insertInto: opened.context)
        tag["label"] = .text("in the log")
        try opened.context.save()
        try FileManager.default.copyItem(atPath: other.path + "-wal", toPath: damaged.path + "-wal")
        #expect(throws: DatabaseError.foreignLog(path: damaged.path)) { try Opened(damaged) }
        let report = try salvage()
        #expect(report.ignoresLog && report.damagedPageCount == 0 && report.outdatedPageCount == 0)
        #expect(!report.isComplete, "the log of the store itself may be lost")
        #expect(try objects(of: original, report, "without the log") == original)
        try opened.coordinator.removeAllStores()
    }

    @Test func `older versions of pages are read if the log is damaged`() throws {
        _ = try fill(items: 60)
        let opened = try Opened(damaged)
        for (entity, attribute) in [("Tag", "label"), ("Owner", "name")] {
            let request = FetchRequest(try #require(opened.context.model.entitiesByName[entity]))
            for object in try opened.context.fetch(request, as: ManagedObject.self) {
                object[attribute] = .text("changed \(object.managedObjectID.key)")
            }
            try opened.context.save()
        }
        let copy = folder.file("copy.store")
        try FileManager.default.copyItem(at: damaged, to: copy)
        let log = try Data(contentsOf: URL(filePath: damaged.path + "-wal"))
        try opened.coordinator.removeAllStores()
        // All but the last frame, so that the log is recognised as that of the file.
        let count = (log.count - 32) / 4120
        let forged = ForgedLog(log) { if $0 < count - 1 { $1[1000] ^= 1 } }
        try forged.bytes.write(to: URL(filePath: copy.path + "-wal"))
        let report = try SealedStore.salvage(copy, key: Self.key, to: folder.file("new.store"))
        #expect(report.outdatedPageCount > 0 && !report.ignoresLog && !report.isComplete)
        #expect(report.entities.first { $0.entity == "Tag" }?.recoveredCount == 20)
    }

    @Test func `damage to one page loses the content of that page only`() throws {
        let original = try fill(items: 200)
        let content = try Data(contentsOf: damaged)
        var (complete, ownerLeaves) = (0, 0)
        #expect(original["Owner"]?.count == 30 && original["Part"]?.count == 61)
        for page in 2...content.count / Self.pageByteCount {
            var bytes = content
            bytes[(page - 1) * Self.pageByteCount + 1234] ^= 0x10
            try bytes.write(to: damaged)
            do {
                let report = try salvage(model: Self.model())
                let found = try objects(of: original, report, "page \(page)")
                let lost = original.values.map(\.count).reduce(0, +) - found.values.map(\.count).reduce(0, +)
                // A leaf costs its rows, at most 48 here; a page above the leaves, of the schema or of an index costs
                // none. The only leaf of the owners also costs all parts, whose maker is an owner and required.
                let hasLostOwners = found["Owner"] == nil
                if hasLostOwners { ownerLeaves += 1 }
                #expect(hasLostOwners ? lost == 30 + 61 : lost <= 48, "page \(page)")
                let reported = report.entities.map(\.lostCount).reduce(0, +)
                #expect(lost == 0 ? reported == 0 : reported > 0, "page \(page): \(lost) lost, \(reported) reported")
                if report.isComplete { complete += 1 }
            } catch let error as SalvageError {
                Issue.record("page \(page): \(error)")
            }
            try removeNew()
            #expect(try Data(contentsOf: damaged) == bytes, "the damaged file is unchanged")
        }
        #expect(ownerLeaves == 1)
        // Pages of indexes, and free ones.
        #expect(complete > 10)
    }

    @Test func `random pages are damaged, and every other row is recovered`() throws {
        let original = try fill()
        let content = try Data(contentsOf: damaged)
        var random = SeededGenerator()
        let pageCount = content.count / Self.pageByteCount
        for round in 0..<12 {
            var bytes = content
            let count = Int.random(in: 1...pageCount / 4, using: &random)
            for _ in 0..<count {
                let page = Int.random(in: 2...pageCount, using: &random)
                let offset = Int.random(in: 0..<Self.pageByteCount, using: &random)
                bytes[(page - 1) * Self.pageByteCount + offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            if round % 3 == 2 { bytes.removeLast(Int.random(in: 1...bytes.count / 3, using: &random)) }
            try bytes.write(to: damaged)
            let report = try salvage(model: Self.model())
            _ = try objects(of: original, report, "\(random), round \(round)")
            #expect(report.damagedPageCount > 0 || report.isComplete)
            try removeNew()
        }
    }

    @Test func `a file without its first page, with a wrong key, or of another kind is refused`() throws {
        _ = try fill(items: 20)
        let content = try Data(contentsOf: damaged)
        #expect(throws: DatabaseError.wrongKey(path: damaged.path)) {
            try SealedStore.salvage(damaged, key: .passphrase("wrong"), to: folder.file("new.store"))
        }
        var bytes = content
        bytes[100] ^= 1
        try bytes.write(to: damaged)
        #expect(throws: SalvageError.firstPageDamaged) { try salvage() }
        try Data("SQLite format 3\0".utf8 + Array(repeating: 0, count: 9000)).write(to: damaged)
        #expect(throws: DatabaseError.notADatabase(path: damaged.path, .plaintextSQLite)) { try salvage() }
        try content.write(to: damaged)
        try Data().write(to: folder.file("new.store"))
        #expect(throws: DatabaseError.self) { try salvage() }
        #expect(try Data(contentsOf: folder.file("new.store")).isEmpty)
        let progress = Progress(totalUnitCount: 1)
        progress.cancel()
        #expect(throws: CancellationError.self) {
            try SealedStore.salvage(damaged, key: Self.key, to: folder.file("other.store"), progress: progress)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("other.store").path))
    }
}
