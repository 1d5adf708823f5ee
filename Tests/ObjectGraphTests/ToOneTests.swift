import ObjectGraph
import Testing

@Suite struct ToOneTests {
    @Test(arguments: StoreKind.allCases, ToManyTests.Place.allCases)
    func `a one-to-one relationship is the same from both sides`(kind: StoreKind, place: ToManyTests.Place) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let books = ["a", "b"].map { ManagedObject.make(store.model, "Book", ["name": .text($0)]) }
        let covers = ["x", "y"].map { ManagedObject.make(store.model, "Cover", ["name": .text($0)]) }
        if place != .outside { for object in books + covers { context.insert(object) } }
        if place == .saved { try context.save() }
        books[0][one: "cover"] = covers[0]
        books[1][one: "cover"] = covers[1]
        #expect(covers[0][one: "book"] === books[0])
        // Removes the cover from the other book.
        books[0][one: "cover"] = covers[1]
        #expect(covers[0][one: "book"] == nil)
        #expect(covers[1][one: "book"] === books[0])
        #expect(books[1][one: "cover"] == nil)
        covers[0][one: "book"] = books[1]
        #expect(books[1][one: "cover"] === covers[0])
        for object in books + covers { context.insert(object) }
        try context.save()
        let reader = store.context()
        #expect(try reader.counterpart(of: books[0])[one: "cover"]?["name"] == "y")
        #expect(try reader.counterpart(of: books[1])[one: "cover"]?["name"] == "x")
        #expect(try reader.counterpart(of: covers[0])[one: "book"]?["name"] == "b")
    }

    @Test(arguments: StoreKind.allCases)
    func `a one-way relationship has no inverse`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let authors = ["a", "b"].map { context.make("Author", ["name": .text($0)]) }
        let book = context.make("Book", ["name": "book"])
        for author in authors {
            author[one: "favourite"] = book
            author[many: "readings"] = [book]
        }
        try context.save()
        let reader = store.context()
        for author in try reader.all("Author") {
            #expect(author[one: "favourite"]?["name"] == "book")
            #expect(author[many: "readings"].texts("name") == ["book"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `deleting the destination of one-way relationships leaves no dangling reference`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "author"])
        let book = context.make("Book", ["name": "book"])
        author[one: "favourite"] = book
        author[many: "readings"] = [book, context.make("Book", ["name": "other"])]
        try context.save()
        context.delete(book)
        #expect(author[one: "favourite"] == nil)
        #expect(author[many: "readings"].texts("name") == ["other"])
        try context.save()
        #expect(author[one: "favourite"] == nil)
        #expect(author[many: "readings"].texts("name") == ["other"])
        author["name"] = "changed"
        try context.save()
        let reader = store.context()
        let found = try reader.one("Author")
        #expect(found[one: "favourite"] == nil)
        #expect(found[many: "readings"].texts("name") == ["other"])
        let favourite = store.model.path("Author", "favourite")
        #expect(try reader.count(reader.request("Author", where: favourite == .null)) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `a new object may refer to an object that is deleted before the save`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let saved = context.make("Book")
        try context.save()
        let author = context.make("Author")
        let second = context.make("Author")
        author[one: "favourite"] = saved
        second[one: "favourite"] = context.make("Book")
        context.delete(saved)
        context.delete(try #require(second[one: "favourite"]))
        try context.save()
        let reader = store.context()
        for author in try reader.all("Author") { #expect(author[one: "favourite"] == nil) }
        #expect(try reader.count(reader.request("Book")) == 0)
    }
}
