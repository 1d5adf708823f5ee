import ObjectGraph
import Testing

@Suite struct QueryGenerationTests {
    /// A context pinned to a state with one author of two books, and an unpinned writer.
    private static func contexts(
        _ kind: StoreKind
    ) throws -> (store: TestStore, pinned: ManagedObjectContext, writer: ManagedObjectContext, author: ManagedObject) {
        let store = try TestStore(kind)
        let writer = store.context()
        let author = writer.make("Author", ["name": "old"])
        author[many: "books"] = ["a", "b"].map { writer.make("Book", ["name": .text($0)]) }
        try writer.save()
        let pinned = store.context()
        try pinned.setQueryGeneration(from: .current)
        return (store, pinned, writer, author)
    }

    @Test(arguments: StoreKind.allCases)
    func `a pinned context does not merge saves of other contexts`(kind: StoreKind) throws {
        let (_, pinned, writer, author) = try Self.contexts(kind)
        author["name"] = "new"
        writer.delete(author[many: "books"][0])
        writer.make("Book", ["name": "c"])
        try writer.save()

        let counterpart = try pinned.one("Author")
        #expect(counterpart["name"] == "old")
        #expect(counterpart[many: "books"].texts("name") == ["a", "b"])
        #expect(try pinned.all("Book").names == ["a", "b"])
        #expect(try pinned.count(pinned.request("Book")) == 2)
        #expect(try pinned.all("Author", where: pinned.model.path("Author", "name") == "new").isEmpty)
        #expect(pinned.queryGenerationToken != nil)

        try pinned.setQueryGeneration(from: nil)
        #expect(counterpart["name"] == "new")
        #expect(counterpart[many: "books"].texts("name") == ["b"])
        #expect(try pinned.all("Book").names == ["b", "c"])
        #expect(pinned.queryGenerationToken == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `faults of a pinned context are filled from its state`(kind: StoreKind) throws {
        let (_, pinned, writer, author) = try Self.contexts(kind)
        let books = try pinned.all("Book")
        let fault = try #require(pinned.object(with: author.managedObjectID) as? ManagedObject)
        writer.delete(author)
        try writer.save()
        #expect(fault["name"] == "old")
        #expect(!fault.isObjectDeleted)
        #expect(books[0][one: "author"] === fault)
        for book in books { pinned.refresh(book, mergeChanges: false) }
        #expect(books.texts("name") == ["a", "b"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a pinned context moves to the latest state when it is pinned again`(kind: StoreKind) throws {
        let (_, pinned, writer, author) = try Self.contexts(kind)
        for name in ["x", "y"] {
            author["name"] = .text(name)
            try writer.save()
            try pinned.setQueryGeneration(from: .current)
            #expect(try pinned.one("Author").text("name") == name)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `two contexts with one token read the same state`(kind: StoreKind) throws {
        let (store, pinned, writer, author) = try Self.contexts(kind)
        author["name"] = "new"
        try writer.save()
        let other = store.context()
        let known = try other.one("Author")
        #expect(known["name"] == "new")
        try other.setQueryGeneration(from: pinned.queryGenerationToken)
        #expect(other.queryGenerationToken == pinned.queryGenerationToken)
        #expect(known["name"] == "old")
        #expect(try other.one("Author")["name"] == "old")
    }

    @Test(arguments: StoreKind.allCases)
    func `a save of a pinned context moves it to the state after the save`(kind: StoreKind) throws {
        let (_, pinned, writer, author) = try Self.contexts(kind)
        author["name"] = "new"
        try writer.save()
        pinned.make("Tag", ["name": "t"])
        let token = pinned.queryGenerationToken
        try pinned.save()
        #expect(pinned.queryGenerationToken != nil && pinned.queryGenerationToken != token)
        #expect(try pinned.one("Author")["name"] == "new")
        #expect(try pinned.all("Tag").count == 1)
        author["name"] = "newer"
        try writer.save()
        #expect(try pinned.one("Author")["name"] == "new")
    }

    @Test(arguments: StoreKind.allCases)
    func `a pinned context conflicts with later saves of other contexts`(kind: StoreKind) throws {
        let (_, pinned, writer, author) = try Self.contexts(kind)
        let counterpart = try pinned.one("Author")
        author["name"] = "theirs"
        try writer.save()
        counterpart["name"] = "mine"
        let token = pinned.queryGenerationToken
        #expect(throws: ObjectGraphError.self) { try pinned.save() }
        #expect(pinned.queryGenerationToken == token)
        pinned.mergePolicy = .mergeByPropertyObjectTrump
        try pinned.save()
        #expect(try writer.one("Author")["name"] == "mine")
    }

    @Test(arguments: StoreKind.allCases)
    func `a pinned context shows the changes of its batch request`(kind: StoreKind) throws {
        let (_, pinned, _, _) = try Self.contexts(kind)
        let known = try pinned.one("Author")
        let entity = pinned.model.entitiesByName["Author"]!
        try pinned.execute(BatchUpdateRequest(entity, propertiesToUpdate: ["name": .literal("batch")]))
        #expect(known["name"] == "batch")
        #expect(try pinned.one("Author")["name"] == "batch")
    }

    @Test(arguments: StoreKind.allCases)
    func `a reset moves a pinned context to the latest state`(kind: StoreKind) throws {
        let (_, pinned, writer, author) = try Self.contexts(kind)
        author["name"] = "new"
        try writer.save()
        pinned.reset()
        #expect(try pinned.one("Author")["name"] == "new")
        #expect(pinned.queryGenerationToken != nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `a child reads the state that its parent is pinned to`(kind: StoreKind) throws {
        let (_, pinned, writer, author) = try Self.contexts(kind)
        let child = ManagedObjectContext(parent: pinned)
        author["name"] = "new"
        try writer.save()
        #expect(try child.one("Author")["name"] == "old")
        try child.setQueryGeneration(from: .current)
        #expect(try child.one("Author")["name"] == "new")
        #expect(child.queryGenerationToken == pinned.queryGenerationToken)
    }

    @Test(arguments: StoreKind.allCases)
    func `an asynchronous fetch of a pinned context reads its state`(kind: StoreKind) async throws {
        let (_, pinned, writer, author) = try Self.contexts(kind)
        author["name"] = "new"
        try writer.save()
        let found: [ManagedObject] = try await pinned.fetchAsynchronously(pinned.request("Author"))
        #expect(found.texts("name") == ["old"])
    }
}
