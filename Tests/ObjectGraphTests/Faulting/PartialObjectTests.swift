@testable import ObjectGraph
import Testing

/// Objects with only some properties fetched.
@Suite struct PartialObjectTests {
    private static let count = 300

    /// Books with a name, a number of pages, a price and an author.
    private static func store(_ kind: StoreKind) throws -> TestStore {
        let store = try TestStore(kind)
        let context = store.context()
        let authors = (0..<3).map { context.make("Author", ["name": .text("author \($0)")]) }
        for number in 0..<count {
            let book = context.make(
                "Book",
                ["name": .text("book \(number)"), "pages": .integer(Int64(number)), "price": .real(Double(number) / 2)]
            )
            book[one: "author"] = authors[number % 3]
        }
        try context.save()
        store.counter.reset()
        return store
    }

    private static func fetch(_ context: ManagedObjectContext, _ names: String...) throws -> [ManagedObject] {
        var request = context.request("Book")
        request.propertiesToFetch = names.map { context.model.properties("Book", [$0])[0] }
        return try context.fetch(request)
    }

    @Test(arguments: StoreKind.allCases)
    func `fetched values need no request, and the others are read for all objects at once`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let books = try Self.fetch(context, "name")
        let names = books.allSatisfy { $0.isFault }
        #expect(names, "partial objects are faults with some values")
        #expect(books.texts("name") == (0..<Self.count).map { "book \($0)" })
        #expect(store.counter.reads == 1, "the fetch itself")
        #expect(books.map { $0["pages"] } == (0..<Self.count).map { .integer(Int64($0)) })
        #expect(books.map { $0["price"] } == (0..<Self.count).map { .real(Double($0) / 2) })
        #expect(store.counter.reads <= 4, "a few statements, not one for each object")
        #expect(!books.contains { $0.isFault })
        #expect(books[7]["name"] == "book 7")
    }

    @Test(arguments: StoreKind.allCases)
    func `a fetched relationship is followed without reading the other properties`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let books = try Self.fetch(context, "author")
        for (number, book) in books.enumerated() {
            #expect(book[one: "author"]?["name"] == .text("author \(number % 3)"))
        }
        #expect(books.allSatisfy { $0.isFault })
        #expect(store.counter.reads == 2, "the books and their authors")
    }

    @Test(arguments: StoreKind.allCases)
    func `saving writes only changed properties`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let books = try Self.fetch(context, "name")
        books[3]["name"] = "renamed"
        books[4]["pages"] = 1_000
        try context.save()
        #expect(books[3]["pages"] == 3)
        let reader = store.context()
        let fresh = try reader.all("Book")
        #expect(fresh[3]["name"] == "renamed")
        #expect(fresh[3]["pages"] == 3)
        #expect(fresh[3]["price"] == 1.5)
        #expect(fresh[3][one: "author"]?["name"] == "author 0")
        #expect(fresh[4]["name"] == "book 4")
        #expect(fresh[4]["pages"] == 1_000)
        #expect(fresh.map { $0.state.pointee.row?.version }[3...5] == [2, 2, 1])
    }

    @Test(arguments: StoreKind.allCases)
    func `members of partial objects change without reading the other properties`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let books = try Self.fetch(context, "name")
        let tag = context.make("Tag", ["name": "t"])
        tag[many: "books"] = [books[2], books[1]]
        #expect(books[1].isUpdated)
        try context.save()
        #expect(books[1].isFault)
        #expect(books[1]["name"] == "book 1")
        #expect(books[1]["pages"] == 1)
        let reader = store.context()
        let fresh = try reader.one("Tag")
        #expect(fresh[many: "books"].texts("name") == ["book 2", "book 1"])
    }

    @Test(arguments: StoreKind.allCases)
    func `predicates on unfetched properties have the results of the store`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let books = try Self.fetch(context, "name")
        books[5]["pages"] = 500
        context.make("Book", ["name": "new", "pages": 250])
        let pages = store.model.path("Book", "pages")
        var request = context.request("Book", where: pages > 296, sortedBy: [QuerySort(pages, ascending: false)])
        request.propertiesToFetch = store.model.properties("Book", ["name"])
        let found: [ManagedObject] = try context.fetch(request)
        #expect(found.texts("name") == ["book 5", "book 299", "book 298", "book 297"])
        request.predicate = store.model.path("Book", "author", "name") == "author 2"
        request.limit = 2
        let author = try context.one("Author", where: store.model.path("Author", "name") == "author 2")
        author["born"] = 1
        #expect(try context.fetch(request, as: ManagedObject.self).texts("name") == ["book 5", "book 299"])
    }

    @Test(arguments: StoreKind.allCases)
    func `saves of other contexts are merged`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let books = try Self.fetch(context, "name")
        let other = store.context()
        let theirs = try other.all("Book")
        theirs[0]["name"] = "theirs"
        theirs[1]["pages"] = 77
        other.delete(theirs[2])
        try other.save()
        _ = try context.count(context.request("Tag"))
        #expect(books[0]["name"] == "theirs")
        #expect(books[1]["pages"] == 77)
        #expect(books[2].isObjectDeleted)
        #expect(books[2]["name"] == "book 2", "the last known value")
        #expect(books[2]["pages"] == .null)
    }

    @Test(arguments: StoreKind.allCases)
    func `a later partial row replaces an earlier complete one`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let books = try context.all("Book")
        let other = ManagedObjectContext(coordinator: try store.anotherCoordinator())
        let theirs = try other.all("Book")
        theirs[0]["name"] = "theirs"
        theirs[0]["pages"] = 77
        try other.save()
        _ = try Self.fetch(context, "name")
        #expect(books[0]["name"] == "theirs")
        #expect(books[0]["pages"] == 77)
        #expect(!books[1].isFault, "a complete object of the same version stays complete")
    }

    @Test(arguments: StoreKind.allCases)
    func `changing a partial object that another context changed is a conflict`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let books = try Self.fetch(context, "name")
        books[0]["name"] = "mine"
        context.delete(books[1])
        let other = ManagedObjectContext(coordinator: try store.anotherCoordinator())
        for book in try other.all("Book").prefix(2) { book["pages"] = 77 }
        try other.save()
        #expect(throws: ObjectGraphError.self) { try context.save() }
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()
        let fresh = try store.context().all("Book")
        #expect(fresh.count == Self.count - 1)
        #expect(fresh[0]["name"] == "mine")
        #expect(fresh[0]["pages"] == 77)
    }

    @Test(arguments: StoreKind.allCases)
    func `deleting a partial object can be undone`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        context.undoManager = UndoManager()
        let books = try Self.fetch(context, "name", "author")
        context.delete(books[3])
        try context.save()
        context.undo()
        #expect(books[3]["pages"] == 3)
        #expect(books[3][one: "author"]?["name"] == "author 0")
        try context.save()
        let reader = store.context()
        let fresh = try #require(try reader.existingObject(with: books[3].managedObjectID) as? ManagedObject)
        #expect(fresh["name"] == "book 3")
        #expect(fresh["price"] == 1.5)
        let owner = try reader.one("Author", where: store.model.path("Author", "name") == "author 0")
        #expect(owner[many: "books"].count == 100)
    }

    @Test(arguments: StoreKind.allCases)
    func `undoing a deletion restores the relationships of partial objects`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let author = try context.one("Author", where: store.model.path("Author", "name") == "author 0")
        let book = try context.all("Book")[0]
        author[one: "favourite"] = book
        try context.save()
        let reader = store.context()
        reader.undoManager = UndoManager()
        var request = reader.request("Author", where: store.model.path("Author", "name") == "author 0")
        request.propertiesToFetch = store.model.properties("Author", ["favourite"])
        let partial: [ManagedObject] = try reader.fetch(request)
        reader.delete(try reader.counterpart(of: book))
        try reader.save()
        #expect(partial[0][one: "favourite"] == nil)
        reader.undo()
        #expect(partial[0][one: "favourite"]?["name"] == "book 0")
        try reader.save()
        let last = store.context()
        let fresh = try #require(try last.existingObject(with: author.managedObjectID) as? ManagedObject)
        #expect(fresh[one: "favourite"]?["name"] == "book 0")
    }

    @Test(arguments: StoreKind.allCases)
    func `refreshing and releasing partial objects frees their rows`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let books = try Self.fetch(context, "name")
        let other = ManagedObjectContext(coordinator: try store.anotherCoordinator())
        try other.all("Book")[0]["name"] = "theirs"
        try other.save()
        #expect(books[0]["name"] == "book 0")
        context.refresh(books[0], mergeChanges: false)
        #expect(books[0]["name"] == "theirs")
        context.refreshAllObjects()
        #expect(books[1]["name"] == "book 1")
        context.reset()
        #expect(books[1]["name"] == "book 1", "the last known value stays after the release")
        #expect(books[2]["pages"] == .null)
    }

    @Test(arguments: StoreKind.allCases)
    func `properties of subentities are not fetched either`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.animals)
        let writer = store.context()
        writer.make("Penguin", ["name": "a", "wingspan": 0.5, "dives": 7])
        writer.make("Cat", ["name": "b", "lives": 9])
        try writer.save()
        let context = store.context()
        var request = context.request("Animal")
        request.propertiesToFetch = store.model.properties("Animal", ["name", "keeper"])
        store.counter.reset()
        let animals: [ManagedObject] = try context.fetch(request)
        #expect(animals.map(\.entity.name) == ["Penguin", "Cat"])
        #expect(animals.texts("name") == ["a", "b"])
        #expect(store.counter.reads == 1)
        #expect(animals[0]["dives"] == 7)
        #expect(animals[1]["lives"] == 9)
        #expect(store.counter.reads == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `enumerations and asynchronous fetches can be partial`(kind: StoreKind) async throws {
        let store = try Self.store(kind)
        let context = store.context()
        var request = context.request(
            "Book",
            sortedBy: [QuerySort(store.model.path("Book", "pages"), ascending: false)]
        )
        request.propertiesToFetch = store.model.properties("Book", ["name"])
        let found = try await context.fetchAsynchronously(request, as: ManagedObject.self)
        #expect(found.allSatisfy { $0.isFault })
        var names: [String] = []
        let reader = store.context()
        try reader.enumerate(request, batchSize: 100) { (books: [ManagedObject]) in
            #expect(books.allSatisfy { $0.isFault })
            names += books.texts("name")
        }
        #expect(names == found.texts("name"))
        #expect(names.count == Self.count)
    }

    @Test(arguments: StoreKind.allCases)
    func `a child of the context reads complete objects`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let parent = store.context()
        let books = try Self.fetch(parent, "name")
        let child = ManagedObjectContext(parent: parent)
        let childBooks = try Self.fetch(child, "name")
        #expect(childBooks[9]["pages"] == 9)
        childBooks[9]["pages"] = 99
        try child.save()
        #expect(books[9]["pages"] == 99)
        #expect(books[8]["pages"] == 8)
    }
}
