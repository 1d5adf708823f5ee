import ObjectGraph
import Testing

@Suite struct UndoGroupingTests {
    private static func author(_ kind: StoreKind) throws -> (
        TestStore, ManagedObjectContext, ManagedObject, UndoManager
    ) {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "a"])
        try context.save()
        let undoManager = UndoManager()
        context.undoManager = undoManager
        return (store, context, author, undoManager)
    }

    @Test(arguments: StoreKind.allCases)
    func `a group holds the changes between its ends, also across fetches`(kind: StoreKind) throws {
        let (_, context, author, undoManager) = try Self.author(kind)
        author["born"] = 1
        undoManager.beginUndoGrouping()
        author["name"] = "b"
        _ = try context.all("Author")
        author["name"] = "c"
        undoManager.setActionName("Renaming")
        undoManager.endUndoGrouping()
        author["name"] = "d"
        context.undo()
        #expect(author["name"] == "c")
        #expect(undoManager.undoActionName == "Renaming")
        context.undo()
        #expect(author["name"] == "a")
        #expect(author["born"] == 1)
        context.undo()
        #expect(!context.hasChanges)
        context.redo()
        context.redo()
        #expect(author["name"] == "c")
    }

    @Test(arguments: StoreKind.allCases)
    func `a context opens a group if groupsByEvent is off`(kind: StoreKind) throws {
        let (_, context, author, undoManager) = try Self.author(kind)
        undoManager.groupsByEvent = false
        author["name"] = "b"
        context.processPendingChanges()
        author["name"] = "c"
        context.undo()
        #expect(author["name"] == "b")
        context.undo()
        #expect(author["name"] == "a")
        context.redo()
        #expect(author["name"] == "b")
    }

    @Test(arguments: StoreKind.allCases)
    func `the undo manager includes changes that are not processed yet`(kind: StoreKind) throws {
        let (_, context, author, undoManager) = try Self.author(kind)
        #expect(!undoManager.canUndo)
        author["name"] = "b"
        #expect(undoManager.canUndo)
        undoManager.undo()
        #expect(author["name"] == "a")
        #expect(undoManager.canRedo)
        author["name"] = "c"
        #expect(!undoManager.canRedo)
        context.redo()
        #expect(author["name"] == "c")
    }

    @Test(arguments: StoreKind.allCases)
    func `changes while registration is disabled cannot be undone`(kind: StoreKind) throws {
        let (_, context, author, undoManager) = try Self.author(kind)
        author["name"] = "b"
        undoManager.disableUndoRegistration()
        author["born"] = 1
        undoManager.enableUndoRegistration()
        author["name"] = "c"
        context.undo()
        #expect(author["name"] == "b")
        context.undo()
        #expect(author["name"] == "a")
        #expect(author["born"] == 1)
        #expect(!undoManager.canUndo)
    }

    @Test(arguments: StoreKind.allCases)
    func `rollback and reset forget the context's changes and keep other operations`(kind: StoreKind) throws {
        let (_, context, author, undoManager) = try Self.author(kind)
        let other = UndoTarget()
        undoManager.registerUndo(withTarget: other) { $0.count += 1 }
        for forget in [{ context.rollback() }, { context.reset() }] {
            author["name"] = "b"
            context.processPendingChanges()
            author["name"] = "c"
            forget()
            #expect(author["name"] == "a")
        }
        undoManager.undo()
        #expect(other.count == 1)
        #expect(!undoManager.canUndo && !undoManager.canRedo)
    }

    @Test(arguments: StoreKind.allCases)
    func `a rollback after the undo of a saved deletion leaves the object deleted`(kind: StoreKind) throws {
        let (store, context, author, _) = try Self.author(kind)
        context.delete(author)
        try context.save()
        context.undo()
        #expect(author.isInserted)
        context.rollback()
        #expect(author.isObjectDeleted)
        #expect(!context.hasChanges)
        try context.save()
        #expect(try store.context().all("Author").isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `a refresh is not recorded, and earlier changes can be undone`(kind: StoreKind) throws {
        let (_, context, author, undoManager) = try Self.author(kind)
        let book = context.make("Book", ["name": "book"])
        try context.save()
        undoManager.removeAllActions()
        book[one: "author"] = author
        author["name"] = "b"
        context.refresh(book, mergeChanges: false)
        context.refresh(author, mergeChanges: false)
        #expect(author["name"] == "a")
        #expect(!context.hasChanges)
        context.undo()
        #expect(!undoManager.canUndo)
        #expect(author["name"] == "a")
        #expect(author[many: "books"].isEmpty)
        #expect(book[one: "author"] == nil)
        context.redo()
        #expect(author["name"] == "a")
        #expect(book[one: "author"] == nil)
        #expect(author[many: "books"].isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `after a failed save all changes can be undone`(kind: StoreKind) throws {
        let (store, context, author, undoManager) = try Self.author(kind)
        author["name"] = "b"
        store.counter.failNextSave(with: ObjectGraphError.storeIsReadOnly)
        #expect(throws: ObjectGraphError.self) { try context.save() }
        context.undo()
        #expect(author["name"] == "a")
        #expect(!undoManager.canUndo)
        #expect(!context.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func `reinserting an object whose deletion was saved clears the undo stack`(kind: StoreKind) throws {
        let (store, context, author, undoManager) = try Self.author(kind)
        context.delete(author)
        try context.save()
        context.insert(author)
        context.undo()
        #expect(author.isObjectDeleted)
        #expect(!undoManager.canUndo)
        context.redo()
        try context.save()
        #expect(try store.context().one("Author")["name"] == "a")
    }

    @Test(arguments: StoreKind.allCases)
    func `an insertion that became an update of another object is not undone`(kind: StoreKind) throws {
        let model = Fixtures.model(
            EntityDescription(
                "Word",
                attributes: [.init("text", .string), .init("count", .int64, isOptional: true)],
                uniquenessConstraints: [["text"]]
            )
        )
        let store = try TestStore(kind, model)
        let setup = store.context()
        setup.make("Word", ["text": "kokoro", "count": 1])
        try setup.save()
        let context = store.context()
        context.mergePolicy = .mergeByPropertyObjectTrump
        context.undoManager = UndoManager()
        context.make("Word", ["text": "kokoro", "count": 2])
        try context.save()
        context.undo()
        #expect(!context.hasChanges)
        #expect(try store.context().one("Word")["count"] == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `one undo manager serves several contexts, and outlives them`(kind: StoreKind) throws {
        let (store, context, author, undoManager) = try Self.author(kind)
        do {
            let other = store.context()
            other.undoManager = undoManager
            let found = try other.counterpart(of: author)
            undoManager.beginUndoGrouping()
            author["name"] = "b"
            found["born"] = 1
            undoManager.endUndoGrouping()
            undoManager.undo()
            #expect(author["name"] == "a")
            #expect(found["born"] == .null)
            undoManager.redo()
            #expect(found["born"] == 1)
        }
        #expect(author["name"] == "b")
        context.undo()
        #expect(author["name"] == "a")
        #expect(!undoManager.canUndo)
    }

    @Test(arguments: StoreKind.allCases)
    func `recorded objects are kept for as long as they can be undone`(kind: StoreKind) throws {
        let (_, context, _, undoManager) = try Self.author(kind)
        weak var kept: ManagedObject?
        do {
            let author = try context.one("Author")
            author["name"] = "b"
            kept = author
        }
        try context.save()
        _ = context.registeredObjects
        #expect(kept != nil)
        undoManager.removeAllActions()
        _ = context.registeredObjects
        #expect(kept == nil)
    }
}

/// The state that the operations of a test change.
private final class UndoTarget {
    var count = 0
}
