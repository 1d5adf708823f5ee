@testable import ObjectGraph
import Testing

/// The policies of reloading registered objects that another process has changed or deleted.
@Suite struct ReloadingTests {
    /// A context with authors that another process has changed ("changed", also renamed here if `isUpdated`) and deleted
    /// ("deleted").
    private static func authors(
        _ kind: StoreKind,
        isUpdated: Bool = false
    ) throws -> (store: TestStore, context: ManagedObjectContext, changed: ManagedObject, deleted: ManagedObject) {
        let store = try TestStore(kind)
        let context = store.context()
        let changed = context.make("Author", ["name": "Ōgai", "born": 1862])
        let deleted = context.make("Author", ["name": "Sōseki"])
        try context.save()
        let other = ManagedObjectContext(coordinator: try store.anotherCoordinator())
        try other.counterpart(of: changed)["born"] = 1863
        other.delete(try other.counterpart(of: deleted))
        try other.save()
        if isUpdated { changed["name"] = "Mori Ōgai" }
        return (store, context, changed, deleted)
    }

    @Test(arguments: StoreKind.allCases)
    func `an unchanged object takes a later version and a missing one is marked`(kind: StoreKind) throws {
        let (_, context, changed, deleted) = try Self.authors(kind)
        let stamp = context.identityMap.deletionStamp
        let missing = context.loader.reload(
            [changed, deleted],
            changedObjects: .becomeOutdated,
            missingRows: .markMissing,
            failures: .report
        )
        #expect(missing.count == 1 && missing[0] === deleted)
        #expect(changed["born"] == 1863)
        #expect(deleted.isMissing)
        #expect(deleted["name"] == "Sōseki")
        #expect(context.identityMap.deletionStamp != stamp)
        #expect(!context.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func `an object without a row stays as it is if missing rows keep objects`(kind: StoreKind) throws {
        let (_, context, changed, deleted) = try Self.authors(kind)
        let stamp = context.identityMap.deletionStamp
        let missing = context.loader.reload(
            [deleted, changed],
            changedObjects: .becomeOutdated,
            missingRows: .keepObjects,
            failures: .report
        )
        #expect(missing.count == 1 && missing[0] === deleted)
        #expect(!deleted.isMissing)
        #expect(context.identityMap.deletionStamp == stamp)
    }

    @Test(arguments: StoreKind.allCases)
    func `a changed object that becomes outdated conflicts when it is saved`(kind: StoreKind) throws {
        let (_, context, changed, _) = try Self.authors(kind, isUpdated: true)
        context.loader.reload([changed], changedObjects: .becomeOutdated, missingRows: .markMissing, failures: .report)
        #expect(changed["born"] == 1862)
        #expect(changed["name"] == "Mori Ōgai")
        #expect(throws: ObjectGraphError.self) { try context.save() }
    }

    @Test(arguments: StoreKind.allCases)
    func `a changed object that takes the row keeps its changes and saves without a conflict`(kind: StoreKind) throws {
        let (store, context, changed, _) = try Self.authors(kind, isUpdated: true)
        context.loader.reload([changed], changedObjects: .takeRow, missingRows: .keepObjects, failures: .report)
        #expect(changed["born"] == 1863)
        #expect(changed["name"] == "Mori Ōgai")
        try context.save()
        let saved = try store.context().counterpart(of: changed)
        #expect(saved["born"] == 1863)
        #expect(saved["name"] == "Mori Ōgai")
        #expect(try store.problems() == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `an object does not take a row of another version if only the same version is taken`(kind: StoreKind) throws {
        let (_, context, changed, _) = try Self.authors(kind, isUpdated: true)
        context.loader.reload(
            [changed],
            changedObjects: .takeRowOfSameVersion,
            missingRows: .keepObjects,
            failures: .report
        )
        #expect(changed["born"] == 1862)
    }

    @Test(arguments: StoreKind.allCases)
    func `objects of several entities are reloaded with one request each`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let objects = ["Author", "Book", "Author", "Tag", "Book"].map { context.make($0, ["name": "first"]) }
        try context.save()
        let other = ManagedObjectContext(coordinator: try store.anotherCoordinator())
        for object in objects { try other.counterpart(of: object)["name"] = "second" }
        try other.save()
        store.counter.reset()
        let missing = context.loader.reload(
            objects,
            changedObjects: .becomeOutdated,
            missingRows: .markMissing,
            failures: .report
        )
        #expect(missing.isEmpty)
        #expect(objects.map { $0["name"] } == Array(repeating: "second", count: 5))
        #expect(store.counter.reads == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func `a read that fails is reported or ignored, and leaves the objects as they are`(kind: StoreKind) throws {
        let (store, context, changed, deleted) = try Self.authors(kind)
        try store.coordinator.removeAllStores()
        for failures in [ObjectLoader.ReadErrors.ignore, .report] {
            let missing = context.loader.reload(
                [changed, deleted],
                changedObjects: .becomeOutdated,
                missingRows: .markMissing,
                failures: failures
            )
            #expect(missing.isEmpty)
            #expect(!changed.isMissing && !deleted.isMissing)
            #expect(context.unreadableValues.isEmpty == (failures == .ignore))
        }
    }
}
