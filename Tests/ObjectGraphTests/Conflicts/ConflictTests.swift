import ObjectGraph
import Testing

@Suite struct ConflictTests {
    private static func author(_ kind: StoreKind) throws -> (
        TestStore, ManagedObjectContext, ManagedObject, ManagedObjectContext, ManagedObject
    ) {
        let store = try TestStore(kind)
        let first = store.context()
        let author = first.make("Author", ["name": "old", "born": 1])
        try first.save()
        let second = store.context()
        return (store, first, author, second, try second.counterpart(of: author))
    }

    private static func expectConflict(_ context: ManagedObjectContext, on object: ManagedObject) {
        let error = #expect(throws: ObjectGraphError.self) { try context.save() }
        guard case .conflicts(let conflicts)? = error else {
            Issue.record("the error is \(String(describing: error))"); return
        }
        #expect(conflicts.map(\.objectID) == [object.managedObjectID])
    }

    @Test(arguments: StoreKind.allCases)
    func `changing an object that another context changed is a conflict until a rollback`(kind: StoreKind) throws {
        let (store, first, author, second, counterpart) = try Self.author(kind)
        author["name"] = "first"
        counterpart["name"] = "second"
        try first.save()
        Self.expectConflict(second, on: counterpart)
        #expect(counterpart["name"] == "second")
        #expect(second.hasChanges)
        Self.expectConflict(second, on: counterpart)
        second.rollback()
        #expect(counterpart["name"] == "first")
        counterpart["name"] = "third"
        try second.save()
        #expect(try store.context().one("Author")["name"] == "third")
    }

    @Test(arguments: StoreKind.allCases)
    func `a refresh keeps the pending changes and ends the conflict`(kind: StoreKind) throws {
        let (store, first, author, second, counterpart) = try Self.author(kind)
        author["name"] = "first"
        counterpart["born"] = 2
        try first.save()
        Self.expectConflict(second, on: counterpart)
        second.refresh(counterpart, mergeChanges: true)
        #expect(counterpart["name"] == "first")
        #expect(counterpart["born"] == 2)
        try second.save()
        let found = try store.context().one("Author")
        #expect(found["name"] == "first")
        #expect(found["born"] == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `changing an object that another context deleted is a conflict`(kind: StoreKind) throws {
        let (store, first, author, second, counterpart) = try Self.author(kind)
        first.delete(author)
        counterpart["name"] = "second"
        try first.save()
        Self.expectConflict(second, on: counterpart)
        second.rollback()
        #expect(counterpart.isObjectDeleted)
        #expect(counterpart["name"] == "old")
        #expect(try store.context().count(first.request("Author")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `deleting an object that another context changed is a conflict`(kind: StoreKind) throws {
        let (store, first, author, second, counterpart) = try Self.author(kind)
        author["name"] = "first"
        second.delete(counterpart)
        try first.save()
        Self.expectConflict(second, on: counterpart)
        second.rollback()
        #expect(!counterpart.isObjectDeleted)
        #expect(counterpart["name"] == "first")
        second.delete(counterpart)
        try second.save()
        #expect(try store.context().count(first.request("Author")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `changes of another coordinator are a conflict too`(kind: StoreKind) throws {
        let (store, first, author, _, _) = try Self.author(kind)
        let coordinator = try store.anotherCoordinator()
        let stranger = ManagedObjectContext(coordinator: coordinator)
        let other = try stranger.one("Author")
        other["name"] = "stranger"
        try stranger.save()
        author["name"] = "first"
        Self.expectConflict(first, on: author)
        first.rollback()
        #expect(author["name"] == "stranger")
        author["name"] = "again"
        try first.save()
        try coordinator.removeAllStores()
    }
}
