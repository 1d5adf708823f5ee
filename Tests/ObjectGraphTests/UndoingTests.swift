import ObjectGraph
import Testing

@Suite struct UndoingTests {
    private static func library(_ kind: StoreKind) throws -> (
        TestStore, ManagedObjectContext, ManagedObject, [ManagedObject]
    ) {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "author"])
        let books = ["a", "b"].map { context.make("Book", ["name": .text($0)]) }
        author[many: "books"] = books
        books[0][many: "tags"] = [context.make("Tag", ["name": "tag"])]
        try context.save()
        return (store, context, author, books)
    }

    @Test(arguments: StoreKind.allCases)
    func `a rollback reverts all changes`(kind: StoreKind) throws {
        let (store, context, author, books) = try Self.library(kind)
        let tag = books[0][many: "tags"][0]
        author["name"] = "changed"
        books[0][one: "author"] = nil
        books[0][many: "tags"] = []
        context.delete(books[1])
        context.make("Author")[many: "books"] = [books[0]]
        context.rollback()
        #expect(!context.hasChanges)
        #expect(author["name"] == "author")
        #expect(author[many: "books"].names == ["a", "b"])
        #expect(books[0][one: "author"] === author)
        #expect(books[0][many: "tags"].names == ["tag"])
        #expect(tag[many: "books"].names == ["a"])
        #expect(!books[1].isObjectDeleted)
        #expect(try context.all("Author").count == 1)
        store.counter.reset()
        try context.save()
        #expect(store.counter[.save] == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `a rollback removes new objects and keeps the relationships among them`(kind: StoreKind) throws {
        let (store, context, author, books) = try Self.library(kind)
        let new = context.make("Author", ["name": "new"])
        let book = context.make("Book", ["name": "own"])
        new[many: "books"] = [book, books[0]]
        book[many: "tags"] = [context.make("Tag", ["name": "own"])]
        context.rollback()
        #expect(new.managedObjectContext == nil)
        #expect(new["name"] == "new")
        #expect(new[many: "books"].names == ["own"])
        #expect(book[one: "author"] === new)
        #expect(author[many: "books"].names == ["a", "b"])
        // They can be inserted again.
        context.insert(new)
        #expect(book.isInserted)
        try context.save()
        let reader = store.context()
        let found = try reader.counterpart(of: book)
        #expect(found[one: "author"]?["name"] == "new")
        #expect(found[many: "tags"].names == ["own"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a reset releases all objects`(kind: StoreKind) throws {
        let (store, context, author, books) = try Self.library(kind)
        let id = author.managedObjectID
        author["name"] = "changed"
        let new = context.make("Author", ["name": "new"])
        context.reset()
        #expect(!context.hasChanges)
        #expect(context.registeredObjects.isEmpty)
        #expect(author["name"] == "author")
        #expect(author.managedObjectID == id)
        #expect(author.managedObjectContext == nil)
        #expect(new["name"] == "new")
        #expect(books[0]["name"] == "a")
        let again = try context.one("Author")
        #expect(again !== author)
        #expect(again[many: "books"].names == ["a", "b"])
        // A released object can be inserted as a new one.
        context.insert(author)
        try context.save()
        #expect(author.managedObjectID != id)
        #expect(try store.context().all("Author").count == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `reading a refreshed object reads its row again`(kind: StoreKind) throws {
        let (store, context, author, _) = try Self.library(kind)
        author["name"] = "changed"
        context.refresh(author, mergeChanges: false)
        #expect(author.isFault)
        #expect(!context.hasChanges)
        store.counter.reset()
        #expect(author["name"] == "author")
        #expect(author[many: "books"].names == ["a", "b"])
        #expect(store.counter.reads > 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `refreshAllObjects turns unchanged objects into faults and keeps changes`(
        kind: StoreKind
    ) throws {
        let (store, context, author, books) = try Self.library(kind)
        let tag = books[0][many: "tags"][0]
        books[0]["name"] = "changed"
        context.delete(books[1])
        let new = context.make("Tag", ["name": "new"])
        context.refreshAllObjects()
        #expect(!books[0].isFault && !new.isFault)
        #expect(books[0]["name"] == "changed")
        #expect(books[1].hasPendingDeletion)
        #expect(new["name"] == "new")
        #expect(tag.isFault)
        #expect(tag["name"] == "tag")
        #expect(tag[many: "books"].names == ["changed"])
        #expect(author[many: "books"].names == ["changed"])
        try context.save()
        let reader = store.context()
        #expect(try reader.all("Book").names == ["changed"])
    }

    @Test(arguments: StoreKind.allCases)
    func `refreshing one end of a changed relationship leaves both ends in agreement`(kind: StoreKind) throws {
        let (store, context, author, books) = try Self.library(kind)
        let other = context.make("Author", ["name": "other"])
        try context.save()
        let tag = books[0][many: "tags"][0]
        books[0][one: "author"] = other
        books[0][many: "tags"] = []
        context.refresh(books[0], mergeChanges: false)
        #expect(books[0][one: "author"] === author)
        #expect(author[many: "books"].names == ["a", "b"])
        #expect(other[many: "books"].isEmpty)
        #expect(books[0][many: "tags"].names == ["tag"])
        #expect(tag[many: "books"].names == ["a"])

        let new = context.make("Book", ["name": "new"])
        new[one: "author"] = author
        context.refresh(author, mergeChanges: false)
        #expect(author[many: "books"].names == ["a", "b", "new"])
        try context.save()
        let reader = store.context()
        #expect(try reader.counterpart(of: author)[many: "books"].names == ["a", "b", "new"])
        #expect(try reader.counterpart(of: books[0])[many: "tags"].names == ["tag"])
    }
}
