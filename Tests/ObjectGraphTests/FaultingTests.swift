import ObjectGraph
import Testing

@Suite struct FaultingTests {
    /// A store with a number of books, each with a separate author and three tags.
    private static func storeWithBooks(_ kind: StoreKind, count: Int) throws -> TestStore {
        let store = try TestStore(kind)
        let context = store.context()
        let tags = (0..<10).map { context.make("Tag", ["name": .text("tag \($0)")]) }
        for number in 0..<count {
            let book = context.make("Book", ["name": .text("book \(number)")])
            book[one: "author"] = context.make("Author", ["name": .text("author \(number)")])
            book[many: "tags"] = [tags[number % 10], tags[(number + 1) % 10], tags[(number + 2) % 10]]
        }
        try context.save()
        store.counter.reset()
        return store
    }

    @Test(arguments: StoreKind.allCases)
    func `reading attributes of fetched objects sends no request to the store`(kind: StoreKind) throws {
        let store = try Self.storeWithBooks(kind, count: 1_000)
        let books = try store.context().all("Book")
        #expect(books.names.count == 1_000)
        #expect(store.counter.reads == 1, "the fetch itself")
    }

    @Test(arguments: StoreKind.allCases)
    func `walking a to-one relationship over a thousand objects costs a few requests`(kind: StoreKind) throws {
        let store = try Self.storeWithBooks(kind, count: 1_000)
        let context = store.context()
        let books = try context.all("Book")
        for (number, book) in books.enumerated() {
            #expect(book[one: "author"]?["name"] == .text("author \(number)"))
        }
        #expect(store.counter.reads <= 8)
    }

    @Test(arguments: StoreKind.allCases)
    func `walking a to-many relationship over a thousand objects costs a few requests`(kind: StoreKind) throws {
        let store = try Self.storeWithBooks(kind, count: 1_000)
        let context = store.context()
        for author in try context.all("Author") {
            #expect(author[many: "books"].count == 1)
        }
        #expect(store.counter.reads <= 12)
    }

    @Test(arguments: StoreKind.allCases)
    func `walking a many-to-many relationship over a thousand objects costs a few requests`(kind: StoreKind) throws {
        let store = try Self.storeWithBooks(kind, count: 1_000)
        let context = store.context()
        for book in try context.all("Book") { #expect(book[many: "tags"].count == 3) }
        #expect(store.counter.reads <= 12)
    }

    @Test(arguments: StoreKind.allCases)
    func `a relationship is loaded once`(kind: StoreKind) throws {
        let store = try Self.storeWithBooks(kind, count: 10)
        let context = store.context()
        let books = try context.all("Book")
        let held = books.map { ($0[many: "tags"], $0[one: "author"]) }
        store.counter.reset()
        for book in books {
            #expect(book[many: "tags"].count == 3)
            #expect(book[one: "author"] != nil)
        }
        #expect(store.counter.reads == 0)
        _ = held
    }

    @Test(arguments: StoreKind.allCases)
    func `an object by identifier is a fault until it is read`(kind: StoreKind) throws {
        let store = try Self.storeWithBooks(kind, count: 1)
        let id = try store.context().one("Author").managedObjectID
        let context = store.context()
        store.counter.reset()
        let author = try #require(context.object(with: id) as? ManagedObject)
        #expect(author.isFault)
        #expect(store.counter.reads == 0)
        #expect(author["name"] == "author 0")
        #expect(!author.isFault)
        #expect(store.counter.reads == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `a fault without a row reads as empty and counts as deleted`(kind: StoreKind) throws {
        let store = try Self.storeWithBooks(kind, count: 1)
        let writer = store.context()
        let author = try writer.one("Author")
        let id = author.managedObjectID
        writer.delete(author)
        try writer.save()

        let context = store.context()
        let fault = try #require(context.object(with: id) as? ManagedObject)
        #expect(fault["name"] == .null)
        #expect(fault.isObjectDeleted)
        #expect(fault[many: "books"].isEmpty)
        #expect(fault[one: "favourite"] == nil)
        #expect(try context.existingObject(with: id) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `changing a fault fills it first`(kind: StoreKind) throws {
        let store = try Self.storeWithBooks(kind, count: 1)
        let id = try store.context().one("Author").managedObjectID
        let context = store.context()
        let author = try #require(context.object(with: id) as? ManagedObject)
        author["born"] = 1867
        #expect(author["name"] == "author 0")
        try context.save()
        let reader = store.context()
        let other = try reader.one("Author")
        #expect(other["name"] == "author 0")
        #expect(other["born"] == 1867)
    }
}
