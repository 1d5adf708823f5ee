import ObjectGraph
import Testing

@Suite struct LifetimeTests {
    /// Called by `deinit`.
    final class Noisy: ManagedObject {
        var onDeinit: (() -> Void)?
        deinit { onDeinit?() }
    }

    @Test(arguments: StoreKind.allCases)
    func `objects outlive their context and keep their values and identifiers`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        var context: ManagedObjectContext? = store.context()
        weak let weakContext = context
        let saved = try #require(context?.make("Author", ["name": "saved"]))
        try context?.save()
        let new = try #require(context?.make("Author", ["name": "new"]))
        let book = try #require(context?.make("Book", ["name": "book"]))
        new[many: "books"] = [book]
        saved[one: "favourite"] = book
        let id = saved.managedObjectID
        context = nil
        #expect(weakContext == nil)
        #expect(saved["name"] == "saved")
        #expect(saved.managedObjectID == id)
        #expect(saved.managedObjectContext == nil)
        #expect(saved[one: "favourite"] == nil)
        #expect(saved[many: "books"].isEmpty)
        #expect(new["name"] == "new")
        #expect(new[many: "books"].names == ["book"])
        #expect(book[one: "author"] === new)
        saved["name"] = "changed"
        #expect(saved["name"] == "changed")

        let second = store.context()
        second.insert(new)
        second.insert(saved)
        #expect(book.isInserted)
        try second.save()
        let reader = store.context()
        #expect(try reader.all("Author").texts("name").sorted() == ["changed", "new", "saved"])
        #expect(try reader.one("Book")[one: "author"]?["name"] == "new")
    }

    @Test(arguments: StoreKind.allCases)
    func `a fault outlives its context and reads as empty`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        var context: ManagedObjectContext? = store.context()
        let id = try { () throws -> ManagedObjectID in
            let author = context!.make("Author", ["name": "x"])
            try context!.save()
            return author.managedObjectID
        }()
        context = store.context()
        let fault = try #require(context?.object(with: id) as? ManagedObject)
        context = nil
        #expect(fault["name"] == .null)
        #expect(fault[many: "books"].isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `a context and its objects are freed`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        weak var weakContext: ManagedObjectContext?
        weak var weakAuthor: ManagedObject?
        weak var weakBook: ManagedObject?
        try {
            let context = store.context()
            let author = context.make("Author")
            let book = context.make("Book")
            book[one: "author"] = author
            author[one: "favourite"] = book
            try context.save()
            book["name"] = "changed"
            (weakContext, weakAuthor, weakBook) = (context, author, book)
        }()
        #expect(weakContext == nil, "the context")
        #expect(weakAuthor == nil, "the author")
        #expect(weakBook == nil, "the book")
    }

    @Test func `a graph outside any context is freed with its last object`() throws {
        weak var weakFirst: ManagedObject?
        weak var weakSecond: ManagedObject?
        let model = Fixtures.library
        do {
            let author = ManagedObject.make(model, "Author", ["name": "author"])
            do {
                let book = ManagedObject.make(model, "Book", ["name": "book"])
                book[one: "author"] = author
                author[many: "readings"] = [book]
                weakFirst = book
            }
            #expect(weakFirst == nil, "an object that is referred to only by relationships")
            // The relationship creates it again from its values.
            #expect(author[many: "books"].texts("name") == ["book"])
            weakSecond = author
        }
        #expect(weakSecond == nil, "the last object")
    }

    @Test(arguments: StoreKind.allCases)
    func `a context releases objects without references`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        for _ in 0..<20_000 { context.make("Author") }
        try context.save()
        let reader = store.context()
        weak var dropped: ManagedObject?
        var held: ManagedObject?
        try {
            let authors = try reader.all("Author")
            dropped = authors[17]
            held = authors[18]
        }()
        #expect(reader.registeredObjects.count == 1)
        #expect(dropped == nil)
        #expect(reader.registeredObject(for: held!.managedObjectID) === held)
    }

    @Test(arguments: StoreKind.allCases)
    func `a context keeps changed objects until they are saved`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let writer = store.context()
        writer.make("Author", ["name": "old"])
        try writer.save()
        let context = store.context()
        weak var author: ManagedObject?
        try {
            let found = try context.one("Author")
            found["name"] = "new"
            author = found
        }()
        _ = context.registeredObjects
        #expect(author?["name"] == "new")
        try context.save()
        _ = context.registeredObjects
        #expect(author == nil)
        #expect(try store.context().one("Author")["name"] == "new")
    }

    @Test(arguments: StoreKind.allCases)
    func `deinit of an object may use its context`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.library, classes: ["Author": Noisy.self])
        let writer = store.context()
        for number in 0..<5_000 {
            writer.insert(Noisy(entity: store.model.entitiesByName["Author"]!, insertInto: nil)); _ = number
        }
        try writer.save()
        var context: ManagedObjectContext? = store.context()
        var count = 0
        for _ in 0..<3 {
            let authors = try context!.fetch(context!.request("Author"), as: Noisy.self)
            for author in authors {
                author.onDeinit = { [weak context] in
                    count += 1
                    if count % 500 == 0, let context { _ = try? context.all("Author").count }
                }
            }
        }
        _ = context?.registeredObjects
        context = nil
        #expect(count > 0)
    }
}
