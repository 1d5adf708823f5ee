import ObjectGraph
import Testing

@Suite struct UndoAttributeTests {
    private static func author(_ kind: StoreKind) throws -> (TestStore, ManagedObjectContext, ManagedObject) {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "Sōseki", "born": 1867])
        try context.save()
        context.undoManager = UndoManager()
        return (store, context, author)
    }

    @Test(arguments: StoreKind.allCases)
    func `values are undone and redone`(kind: StoreKind) throws {
        let (_, context, author) = try Self.author(kind)
        author["name"] = "Ōgai"
        author["born"] = .null
        context.undo()
        #expect(author["name"] == "Sōseki")
        #expect(author["born"] == 1867)
        context.redo()
        #expect(author["name"] == "Ōgai")
        #expect(author["born"] == .null)
        try context.save()
        context.undo()
        #expect(author["name"] == "Sōseki")
    }

    @Test(arguments: StoreKind.allCases)
    func `an object is unchanged again when all of its changes are undone`(kind: StoreKind) throws {
        let (store, context, author) = try Self.author(kind)
        author["name"] = "Ōgai"
        #expect(author.isUpdated)
        context.undo()
        #expect(!author.isUpdated)
        #expect(!context.hasChanges)
        context.redo()
        #expect(author.isUpdated)
        context.undo()
        store.counter.reset()
        try context.save()
        #expect(store.counter[.save] == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `changes between two fetches are one operation`(kind: StoreKind) throws {
        let (_, context, author) = try Self.author(kind)
        for year in 1...3 { author["born"] = .integer(Int64(year)) }
        author["name"] = "x"
        _ = try context.all("Author")
        author["born"] = 4
        context.undo()
        #expect(author["born"] == 3)
        #expect(author["name"] == "x")
        context.undo()
        #expect(author["born"] == 1867)
        #expect(author["name"] == "Sōseki")
        #expect(context.undoManager?.canUndo == false)
        context.redo()
        context.redo()
        #expect(author["born"] == 4)
    }

    @Test(arguments: StoreKind.allCases)
    func `values of a new object are undone after its insertion was processed`(kind: StoreKind) throws {
        let (_, context, _) = try Self.author(kind)
        let new = context.make("Author", ["name": "a"])
        new["name"] = "b"
        context.processPendingChanges()
        new["name"] = "c"
        new["name"] = "d"
        context.undo()
        #expect(new["name"] == "b")
        #expect(new.isInserted)
        context.undo()
        #expect(!new.isInserted)
        context.redo()
        #expect(new["name"] == "b")
        context.redo()
        #expect(new["name"] == "d")
        try context.save()
        context.undo()
        #expect(new["name"] == "b")
        #expect(new.isUpdated)
    }

    @Test(arguments: StoreKind.allCases)
    func `values of an object that was new before there was an undo manager are undone`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "a"])
        context.undoManager = UndoManager()
        author["name"] = "b"
        context.undo()
        #expect(author["name"] == "a")
        #expect(author.isInserted)
        context.undoManager = nil
        author["name"] = "c"
        context.undo()
        #expect(author["name"] == "c")
    }

    @Test(arguments: StoreKind.allCases)
    func `values of a fault are undone`(kind: StoreKind) throws {
        let (store, _, author) = try Self.author(kind)
        let context = store.context()
        context.undoManager = UndoManager()
        let fault = try #require(context.object(with: author.managedObjectID) as? ManagedObject)
        fault["name"] = "x"
        context.undo()
        #expect(fault["name"] == "Sōseki")
        #expect(!context.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func `later saves of another context stay, except for the undone properties`(kind: StoreKind) throws {
        let (store, context, author) = try Self.author(kind)
        author["name"] = "mine"
        try context.save()
        let other = store.context()
        try other.counterpart(of: author)["born"] = 1
        try other.save()
        context.undo()
        #expect(author["name"] == "Sōseki")
        #expect(author["born"] == 1)
        try context.save()
    }

    @Test(arguments: StoreKind.allCases)
    func `an object that another context deleted stays deleted`(kind: StoreKind) throws {
        let (store, context, author) = try Self.author(kind)
        author["name"] = "mine"
        try context.save()
        let other = store.context()
        other.delete(try other.counterpart(of: author))
        try other.save()
        context.undo()
        #expect(author.isObjectDeleted)
        #expect(!context.hasChanges)
        context.redo()
        #expect(try context.all("Author").isEmpty)
        try context.save()
    }
}
