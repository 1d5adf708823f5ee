@testable import ObjectGraph
import Testing

/// New objects that are deleted before a save.
@Suite struct DiscardedObjectTests {
    /// Called by `deinit`.
    private final class Noisy: ManagedObject {
        var onDeinit: (() -> Void)?
        deinit { onDeinit?() }
    }

    /// Inserts and deletes an author, to which only `body` refers.
    private static func discard(in context: ManagedObjectContext, _ body: (ManagedObject) -> Void = { _ in }) {
        let author = context.make("Author", ["name": "discarded"])
        context.delete(author)
        body(author)
    }

    @Test(arguments: StoreKind.allCases)
    func `a deleted new object is released after a save of other objects`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        weak var discarded: ManagedObject?
        Self.discard(in: context) { discarded = $0 }
        context.make("Author", ["name": "saved"])
        try context.save()
        context.rollback()
        #expect(context.registeredObjects.isEmpty)
        #expect(discarded == nil)
        #expect(try context.all("Author").texts("name") == ["saved"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a deleted new object is released after a save without changes`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        weak var discarded: ManagedObject?
        Self.discard(in: context) { discarded = $0 }
        try context.save()
        #expect(context.registeredObjects.isEmpty)
        #expect(discarded == nil)
        #expect(try context.count(context.request("Author")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `a context that inserts and deletes objects for a long time releases them`(kind: StoreKind) throws {
        let store = try TestStore(kind, classes: ["Author": Noisy.self])
        let context = store.context()
        let entity = try #require(store.model.entitiesByName["Author"])
        var released = 0
        for _ in 0..<20 {
            for _ in 0..<500 {
                let author = Noisy(entity: entity, insertInto: context)
                author.onDeinit = { released += 1 }
                context.delete(author)
            }
            context.make("Tag")
            try context.save()
        }
        #expect(released > 10_000 - 3 * ObjectTable.smallestSweep)
    }

    @Test(arguments: StoreKind.allCases)
    func `inserted objects without other references stay among deleted ones`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let count = 3 * ObjectTable.smallestSweep
        for number in 0..<count {
            context.make("Author", ["name": "kept", "born": .integer(Int64(number))])
            Self.discard(in: context)
            if number == count / 2 { #expect(context.registeredObjects.count >= count / 2) }
        }
        #expect(context.insertedObjects.count == count)
        try context.save()
        #expect(try store.context().all("Author").names == ["kept"])
        #expect(try store.context().count(context.request("Author")) == count)
    }

    @Test(arguments: StoreKind.allCases)
    func `a deleted object that is inserted again stays`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        do {
            let author = context.make("Author", ["name": "again"])
            context.delete(author)
            try context.save()
            context.insert(author)
        }
        #expect(context.registeredObjects.count == 1)
        try context.save()
        #expect(try store.context().one("Author")["name"] == "again")
    }

    @Test(arguments: StoreKind.allCases)
    func `a redo inserts an object again that only the undo manager has retained`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        context.undoManager = UndoManager()
        context.make("Author", ["name": "Ōgai"])
        context.undo()
        try context.save()
        _ = context.registeredObjects
        #expect(try context.all("Author").isEmpty)
        context.redo()
        #expect(try context.one("Author")["name"] == "Ōgai")
        try context.save()
        #expect(try store.context().one("Author")["name"] == "Ōgai")
    }

    @Test(arguments: StoreKind.allCases)
    func `the identifier of a released object leads to a deleted object`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        var id: ManagedObjectID?
        for _ in 0..<ObjectTable.smallestSweep { Self.discard(in: context) { id = $0.managedObjectID } }
        try context.save()
        // The request for the object is the one that causes a sweep.
        let found = context.object(with: try #require(id))
        #expect(found.isObjectDeleted)
        #expect(context.registeredObjects.isEmpty)
        #expect(!context.hasChanges)
    }
}
