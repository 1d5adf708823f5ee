import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite("Deferred reading of large values") struct DeferredBlobTests {
    private let folder = TemporaryFolder()
    private let coordinator: PersistentStoreCoordinator
    private let photo: Entity

    init() throws {
        SealedStore.register()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Photo",
                attributes: [
                    .init("image", .data, isOptional: true, allowsExternalStorage: true),
                    .init("name", .string, isOptional: true),
                    .init("thumbnail", .data, isOptional: true),
                ]
            )
        ])
        photo = model.entitiesByName["Photo"]!
        coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: folder.file("photos.store"),
                options: [SealedStore.keyOption: Library.key]
            )
        )
    }

    private static func bytes(_ count: Int) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }) }

    private func insert(_ sizes: [Int?]) throws {
        let context = ManagedObjectContext(coordinator: coordinator)
        for (number, size) in sizes.enumerated() {
            let object = ManagedObject(entity: photo, insertInto: context)
            object["name"] = .text("\(number)")
            if let size { object["image"] = .blob(Self.bytes(size)) }
        }
        try context.save()
    }

    private func statementsRun() throws -> Int {
        let store = try #require(try coordinator.store(for: photo).store as? SealedStore)
        return store.opened.database.statistics.statementsRun
    }

    @Test func `values of every size survive a round trip`() throws {
        let sizes = [nil, 0, 1, EntitySelection.deferralLimit, EntitySelection.deferralLimit + 1, 3_000_000]
        try insert(sizes)
        let context = ManagedObjectContext(coordinator: coordinator)
        let photos: [ManagedObject] = try context.fetch(FetchRequest(photo))
        #expect(photos.map { $0["image"] } == sizes.map { $0.map { .blob(Self.bytes($0)) } ?? .null })
    }

    @Test func `a fetch reads no large value, and the first read of one is one statement`() throws {
        try insert(Array(repeating: 100_000, count: 20))
        let context = ManagedObjectContext(coordinator: coordinator)
        let photos: [ManagedObject] = try context.fetch(FetchRequest(photo))
        let before = try statementsRun()
        #expect(photos.allSatisfy { $0["name"] != .null && $0["thumbnail"] == .null })
        #expect(try statementsRun() == before)
        #expect(photos[3]["image"] == .blob(Self.bytes(100_000)))
        #expect(try statementsRun() == before + 1)
    }

    @Test func `changing other properties keeps the large value, and its own changes are saved`() throws {
        try insert([50_000, 50_000])
        let context = ManagedObjectContext(coordinator: coordinator)
        let photos: [ManagedObject] = try context.fetch(FetchRequest(photo))
        photos[0]["name"] = .text("renamed")
        photos[1]["image"] = .blob(Self.bytes(60_000))
        try context.save()
        #expect(photos[0]["image"] == .blob(Self.bytes(50_000)))
        #expect(photos[1]["image"] == .blob(Self.bytes(60_000)))
        let other = ManagedObjectContext(coordinator: coordinator)
        let again: [ManagedObject] = try other.fetch(FetchRequest(photo))
        #expect(again.map { $0["image"] } == [.blob(Self.bytes(50_000)), .blob(Self.bytes(60_000))])
    }

    @Test func `setting an equal value writes nothing`() throws {
        try insert([50_000])
        let context = ManagedObjectContext(coordinator: coordinator)
        let photos: [ManagedObject] = try context.fetch(FetchRequest(photo))
        photos[0]["image"] = .blob(Self.bytes(50_000))
        try context.save()
        let fresh = ManagedObjectContext(coordinator: coordinator)
        let rows: [ManagedObject] = try fresh.fetch(FetchRequest(photo))
        #expect(rows[0].state.pointee.row?.version == 1)
    }

    @Test func `the large value of an object stays readable after the save of its deletion`() throws {
        try insert([50_000])
        let context = ManagedObjectContext(coordinator: coordinator)
        let photos: [ManagedObject] = try context.fetch(FetchRequest(photo))
        context.delete(photos[0])
        try context.save()
        #expect(photos[0]["image"] == .blob(Self.bytes(50_000)))
        #expect(photos[0]["name"] == .text("0"))
    }

    /// Makes every read of the table fail until `body` has ended.
    private func withUnreadableTable(_ body: () throws -> Void) throws {
        let store = try #require(try coordinator.store(for: photo).store as? SealedStore)
        let database = store.opened.database
        try database.write { try $0.execute(#"ALTER TABLE "Photo" RENAME TO "Hidden""#) }
        try body()
        try database.write { try $0.execute(#"ALTER TABLE "Hidden" RENAME TO "Photo""#) }
    }

    @Test func `an unreadable value is never saved as empty`() throws {
        try insert([50_000, 60_000])
        let context = ManagedObjectContext(coordinator: coordinator)
        let photos: [ManagedObject] = try context.fetch(FetchRequest(photo))
        try withUnreadableTable { photos[0]["image"] = photos[0]["image"] }
        #expect(photos[0]["image"] == .null)
        do {
            try context.save()
            Issue.record("the value was saved")
        } catch ObjectGraphError.unreadable(let values) {
            #expect(values.map(\.property) == ["image"])
            #expect(values.map(\.id) == [photos[0].managedObjectID])
        }
        context.rollback()
        #expect(photos[0]["image"] == .blob(Self.bytes(50_000)))
        photos[1]["name"] = .text("renamed")
        try context.save()
        let fresh = ManagedObjectContext(coordinator: coordinator)
        let saved: [ManagedObject] = try fresh.fetch(FetchRequest(photo))
        #expect(saved.map { $0["image"] } == [.blob(Self.bytes(50_000)), .blob(Self.bytes(60_000))])
    }

    @Test func `an empty value that is set is saved`() throws {
        try insert([50_000])
        let context = ManagedObjectContext(coordinator: coordinator)
        let photos: [ManagedObject] = try context.fetch(FetchRequest(photo))
        photos[0]["image"] = .blob(Data())
        try context.save()
        let fresh = ManagedObjectContext(coordinator: coordinator)
        let saved: [ManagedObject] = try fresh.fetch(FetchRequest(photo))
        #expect(saved.map { $0["image"] } == [.blob(Data())])
    }

    @Test func `a value that could not be read at its deletion is read by the save`() throws {
        try insert([50_000])
        let context = ManagedObjectContext(coordinator: coordinator)
        context.undoManager = UndoManager()
        let photos: [ManagedObject] = try context.fetch(FetchRequest(photo))
        try withUnreadableTable { context.delete(photos[0]) }
        try context.save()
        context.undo()
        try context.save()
        let fresh = ManagedObjectContext(coordinator: coordinator)
        let saved: [ManagedObject] = try fresh.fetch(FetchRequest(photo))
        #expect(saved.map { $0["image"] } == [.blob(Self.bytes(50_000))])
    }

    @Test func `merging another context's save reports the failures of the merging context`() throws {
        try insert([50_000])
        let (writer, reader) = (
            ManagedObjectContext(coordinator: coordinator), ManagedObjectContext(coordinator: coordinator)
        )
        let theirs: [ManagedObject] = try writer.fetch(FetchRequest(photo))
        let own: [ManagedObject] = try reader.fetch(FetchRequest(photo))
        theirs[0]["name"] = .text("renamed")
        try writer.save()
        _ = try reader.count(FetchRequest(photo))
        #expect(own[0]["name"] == .text("renamed"))
        try withUnreadableTable { #expect(own[0]["image"] == .null) }
        own[0]["thumbnail"] = .blob(Data([1]))
        #expect(throws: ObjectGraphError.self) { try reader.save() }
        theirs[0]["name"] = .text("again")
        try writer.save()
    }

    @Test func `a pinned context reads the values of its state`() throws {
        try insert([50_000])
        let context = ManagedObjectContext(coordinator: coordinator)
        try context.setQueryGeneration(from: .current)
        let photos: [ManagedObject] = try context.fetch(FetchRequest(photo))
        let other = ManagedObjectContext(coordinator: coordinator)
        let theirs: [ManagedObject] = try other.fetch(FetchRequest(photo))
        theirs[0]["image"] = .blob(Self.bytes(70_000))
        try other.save()
        #expect(photos[0]["image"] == .blob(Self.bytes(50_000)))
    }

    @Test(arguments: [false, true])
    func `a value that another context deleted is never saved as empty`(isRead: Bool) throws {
        try insert([10_000])
        let context = ManagedObjectContext(coordinator: coordinator)
        context.mergePolicy = .overwrite
        let object = try #require(try context.fetch(FetchRequest(photo), as: ManagedObject.self).first)
        object["name"] = .text("mine")
        if isRead { object["image"] = object["image"] }
        let other = ManagedObjectContext(coordinator: coordinator)
        for object in try other.fetch(FetchRequest(photo), as: ManagedObject.self) { other.delete(object) }
        try other.save()
        if isRead {
            try context.save()
        } else {
            #expect(throws: ObjectGraphError.self) { try context.save() }
            #expect(object.isUpdated)
        }
        let fresh = ManagedObjectContext(coordinator: coordinator)
        let saved: [ManagedObject] = try fresh.fetch(FetchRequest(photo))
        #expect(saved.map { $0["image"] } == (isRead ? [.blob(Self.bytes(10_000))] : []))
        context.rollback()
        #expect(object.isObjectDeleted == !isRead)
    }
}
