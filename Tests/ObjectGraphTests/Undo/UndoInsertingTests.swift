import ObjectGraph
import Testing

@Suite struct UndoInsertingTests {
    private static func context(_ kind: StoreKind) throws -> (TestStore, ManagedObjectContext) {
        let store = try TestStore(kind)
        let context = store.context()
        context.undoManager = UndoManager()
        return (store, context)
    }

    @Test(arguments: StoreKind.allCases)
    func `an insertion is undone, and a redo inserts the same object`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        let author = context.make("Author", ["name": "Ōgai"])
        context.undo()
        #expect(!context.hasChanges)
        #expect(author.isObjectDeleted)
        #expect(author["name"] == "Ōgai")
        #expect(try context.all("Author").isEmpty)
        context.redo()
        #expect(author.isInserted)
        #expect(try context.one("Author") === author)
        try context.save()
        #expect(try store.context().one("Author")["name"] == "Ōgai")
    }

    @Test(arguments: StoreKind.allCases)
    func `objects inserted by a relationship are undone and redone together`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        let author = ManagedObject.make(store.model, "Author", ["name": "author"])
        author[many: "books"] = ["a", "b"].map { ManagedObject.make(store.model, "Book", ["name": .text($0)]) }
        context.insert(author)
        #expect(try context.all("Book").count == 2)
        context.undo()
        #expect(!context.hasChanges)
        #expect(try context.all("Book").isEmpty)
        context.redo()
        #expect(author[many: "books"].names == ["a", "b"])
        try context.save()
        context.undo()
        #expect(context.deletedObjects.count == 3)
        context.redo()
        #expect(!context.hasChanges)
        #expect(author[many: "books"].names == ["a", "b"])
    }

    @Test(arguments: StoreKind.allCases)
    func `the relationships of a new object with saved ones are undone`(kind: StoreKind) throws {
        let (_, context) = try Self.context(kind)
        let author = context.make("Author", ["name": "author"])
        try context.save()
        let book = context.make("Book", ["name": "a"])
        book[one: "author"] = author
        context.undo()
        #expect(author[many: "books"].isEmpty)
        #expect(!context.hasChanges)
        context.redo()
        #expect(author[many: "books"] === [book])
        #expect(book[one: "author"] === author)
    }

    @Test(arguments: StoreKind.allCases)
    func `undoing a saved insertion deletes, and redoing inserts with the same identifier`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        let author = context.make("Author", ["name": "author"])
        let book = context.make("Book", ["name": "a"])
        book[one: "author"] = author
        try context.save()
        let ids = [author.managedObjectID, book.managedObjectID]
        context.undo()
        #expect(context.deletedObjects.count == 2)
        try context.save()
        #expect(try store.context().all("Author").isEmpty)
        context.redo()
        #expect(context.insertedObjects.count == 2)
        #expect(book[one: "author"] === author)
        try context.save()
        #expect([author.managedObjectID, book.managedObjectID] == ids)
        let reader = store.context()
        #expect(try reader.one("Author")[many: "books"].names == ["a"])
        context.undo()
        try context.save()
        #expect(try store.context().all("Book").isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `objects related without being recorded are freed when an insertion is undone`(kind: StoreKind) throws {
        let (_, context) = try Self.context(kind)
        let author = context.make("Author", ["name": "author"])
        context.undoManager?.disableUndoRegistration()
        let book = context.make("Book", ["name": "a"])
        book[one: "author"] = author
        context.undoManager?.enableUndoRegistration()
        context.undo()
        #expect(author.isObjectDeleted)
        #expect(book[one: "author"] == nil)
        try context.save()
        context.redo()
        #expect(book[one: "author"] === author)
        #expect(author[many: "books"] === [book])
        try context.save()
    }

    @Test(arguments: StoreKind.allCases)
    func `reverting a deletion by inserting is undone`(kind: StoreKind) throws {
        let (_, context) = try Self.context(kind)
        let author = context.make("Author", ["name": "author"])
        let book = context.make("Book", ["name": "a"])
        book[one: "author"] = author
        try context.save()
        context.delete(author)
        context.processPendingChanges()
        context.insert(author)
        #expect(book[one: "author"] === author)
        context.undo()
        #expect(author.hasPendingDeletion)
        #expect(book[one: "author"] == nil)
        context.redo()
        #expect(book[one: "author"] === author)
        context.undo()
        context.undo()
        #expect(book[one: "author"] === author)
        #expect(!context.hasChanges)
    }
}
