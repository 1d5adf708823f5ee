import EncryptedSQLite
import Foundation
import Guarded
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Requests of a container whose file another program migrates.
///
/// | old container                       | new container                       |
/// |-------------------------------------|-------------------------------------|
/// | opens, reads                        |                                     |
/// |                                     | opens: swaps names in the file      |
/// | reads by identifier: an error       |                                     |
@Suite struct MigrationElsewhereTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private static let size = EntitySelection.deferralLimit + 1

    private static func model(isSwapped: Bool = false) -> [EntityDescription] {
        let earlier = { (name: String, other: String) in isSwapped ? other : name }
        return [
            EntityDescription(
                "Trip",
                attributes: [
                    .init("first", .string, renamingIdentifier: earlier("first", "second")),
                    .init("second", .string, renamingIdentifier: earlier("second", "first")),
                    .init(
                        "image",
                        .data,
                        isOptional: true,
                        allowsExternalStorage: true,
                        renamingIdentifier: earlier("image", "map")
                    ),
                    .init(
                        "map",
                        .data,
                        isOptional: true,
                        allowsExternalStorage: true,
                        renamingIdentifier: earlier("map", "image")
                    ),
                ],
                relationships: [
                    .init("stops", to: "Stop", .many, inverse: "trip"), .init("tags", to: "Stop", .many),
                ]
            ),
            EntityDescription(
                "Stop",
                attributes: [.init("name", .string)],
                relationships: [.init("trip", to: "Trip", .one, inverse: "stops")]
            ),
        ]
    }

    /// Opens the file with the old model, and then with the new one.
    private func open() throws -> (old: MigratingStore, new: MigratingStore, trip: ManagedObjectID) {
        let store = try MigratingStore(url, Self.model())
        store.insert(
            "Trip",
            [
                "first": .text("one"), "second": .text("two"), "image": .blob(Data(repeating: 1, count: Self.size)),
                "map": .blob(Data(repeating: 2, count: Self.size)),
            ]
        )
        try store.saveAndClose()
        let old = try MigratingStore(url, Self.model())
        let trip = try #require(try old.objects("Trip").first)
        let new = try MigratingStore(url, Self.model(isSwapped: true))
        #expect(try new.values("Trip", "first") == [.text("two")])
        return (old, new, trip.managedObjectID)
    }

    private func isRefused(_ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return false
        } catch SealedStoreError.migratedByAnotherProgram {
            return true
        }
    }

    @Test func `a fault does not fire on another model's columns`() throws {
        let (old, new, id) = try open()
        let store = try old.store()
        #expect(try isRefused { _ = try store.newValuesForObjects(with: [id], with: RequestContext()) })
        let fresh = ManagedObjectContext(coordinator: old.coordinator)
        let fault = try #require(fresh.object(with: id) as? ManagedObject)
        #expect(fault["first"] != .text("two"))
        #expect(try new.problems() == [])
    }

    @Test(arguments: ["stops", "tags"])
    func `a to-many relationship is not read from another model's tables`(name: String) throws {
        let (old, new, id) = try open()
        let store = try old.store()
        guard case .relationship(let relationship)? = old.entity("Trip").propertiesByName[name] else { return }
        #expect(
            try isRefused {
                _ = try store.newValues(forRelationship: relationship, forObjectsWith: [id], with: RequestContext())
            }
        )
        #expect(try new.problems() == [])
    }

    @Test func `a large value is not read from another model's column`() throws {
        let (old, new, id) = try open()
        let blobs = try old.store().opened.deferredBlobs
        let trip = old.entity("Trip")
        let image = try #require(trip.propertiesByName["image"])
        #expect(try isRefused { _ = try blobs.blob(at: image.slot, key: id.key, entityIndex: trip.index) })
        #expect(try new.problems() == [])
    }

    @Test func `a pinned context reads its state`() throws {
        let store = try MigratingStore(url, Self.model())
        store.insert("Trip", ["first": .text("one"), "second": .text("two")])
        try store.saveAndClose()
        let old = try MigratingStore(url, Self.model())
        let id = try #require(try old.objects("Trip").first).managedObjectID
        let pinned = ManagedObjectContext(coordinator: old.coordinator)
        try pinned.setQueryGeneration(from: .current)
        let new = try MigratingStore(url, Self.model(isSwapped: true))
        let fault = try #require(pinned.object(with: id) as? ManagedObject)
        #expect(fault["first"] == .text("one"))
        #expect(try new.problems() == [])
    }

    @Test func `an insertion names the migration as its error`() throws {
        let first = [EntityDescription("Trip", attributes: [.init("name", .string)])]
        let old = try MigratingStore(url, first)
        let second = [
            EntityDescription("Journey", attributes: [.init("name", .string)], renamingIdentifier: "Trip")
        ]
        let new = try MigratingStore(url, second)
        old.insert("Trip", ["name": .text("a")])
        #expect(try isRefused { try old.context.save() })
        #expect(try isRefused { _ = try old.store().obtainPermanentIDs(for: old.entity("Trip"), count: 1) })
        new.insert("Journey", ["name": .text("b")])
        try new.context.save()
        #expect(try new.problems() == [])
    }

    @Test func `a large value of a stage's object is not read after the stage`() throws {
        let store = try MigratingStore(url, Self.model())
        store.insert(
            "Trip",
            ["first": .text("one"), "second": .text("two"), "image": .blob(Data(repeating: 1, count: Self.size))]
        )
        try store.saveAndClose()
        let kept = KeptObject()
        let stages = [
            StoreMigrationStage(try ManagedObjectModel(entities: Self.model())),
            StoreMigrationStage(try ManagedObjectModel(entities: Self.model(isSwapped: true))) { coordinator in
                let store = try coordinator.store(for: coordinator.model.entities[0]).store
                kept.blobs.withLock { $0 = (store as? SealedStore)?.opened.deferredBlobs }
            },
        ]
        let new = try MigratingStore(
            url,
            Self.model(isSwapped: true),
            options: [SealedStore.migrationStagesOption: stages]
        )
        let blobs = try #require(kept.blobs.withLock { $0 })
        let trip = new.entity("Trip")
        let image = try #require(trip.propertiesByName["image"])
        #expect(try new.values("Trip", "second") == [.text("one")])
        #expect(try isRefused { _ = try blobs.blob(at: image.slot, key: 1, entityIndex: trip.index) })
    }
}

/// The source of large values of a stage's store.
private final class KeptObject: Sendable {
    let blobs = Guarded<DeferredBlobs?>(nil)
}
