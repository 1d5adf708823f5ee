import ObjectGraph
import Testing

@Suite struct PermanentIDTests {
    @Test(arguments: StoreKind.allCases)
    func `a permanent identifier obtained before the save is the one that is saved`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "n"])
        let book = context.make("Book")
        book[one: "author"] = author
        let temporary = author.managedObjectID
        try context.obtainPermanentIDs(for: [author])
        let id = author.managedObjectID
        #expect(!id.isTemporary)
        #expect(book.managedObjectID.isTemporary)
        #expect(author.isInserted)
        #expect(author[many: "books"] === [book])
        #expect(book[one: "author"] === author)
        #expect(context.object(with: temporary) === author)
        #expect(context.object(with: id) === author)
        try context.obtainPermanentIDs(for: [author])
        #expect(author.managedObjectID == id)
        try context.save()
        #expect(author.managedObjectID == id)
        let fresh = store.context()
        #expect(try fresh.one("Book")[one: "author"]?.managedObjectID == id)
    }

    @Test(arguments: StoreKind.allCases)
    func `an object with a permanent identifier and no row keeps its values`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author")
        try context.obtainPermanentIDs(for: [author])
        #expect(author["name"] == .null)
        #expect(author[one: "favourite"] == nil)
        #expect(author[many: "books"].isEmpty)
        #expect(!author.isObjectDeleted)
        #expect(try context.all("Author") === [author])
    }

    @Test(arguments: StoreKind.allCases)
    func `a rollback drops an object that has its permanent identifier`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "n"])
        try context.obtainPermanentIDs(for: [author])
        let id = author.managedObjectID
        context.rollback()
        #expect(try context.all("Author").isEmpty)
        #expect(author["name"] == "n")
        context.insert(author)
        #expect(author.managedObjectID == id)
        try context.save()
        #expect(try store.context().one("Author")["name"] == "n")
    }

    @Test(arguments: StoreKind.allCases)
    func `an undone insertion is redone under its permanent identifier`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        context.undoManager = UndoManager()
        let author = context.make("Author", ["name": "n"])
        try context.obtainPermanentIDs(for: [author])
        let id = author.managedObjectID
        context.undo()
        #expect(author.isObjectDeleted)
        context.redo()
        #expect(!author.isObjectDeleted)
        try context.save()
        #expect(author.managedObjectID == id)
        #expect(try store.context().one("Author").managedObjectID == id)
    }
}
