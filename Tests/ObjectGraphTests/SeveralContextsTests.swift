import Guarded
import ObjectGraph
import Testing

@Suite struct SeveralContextsTests {
    /// Two contexts that both registered an author with two books.
    private static func contexts(
        _ kind: StoreKind
    ) throws -> (TestStore, (ManagedObjectContext, ManagedObject), (ManagedObjectContext, ManagedObject)) {
        let store = try TestStore(kind)
        let first = store.context()
        let author = first.make("Author", ["name": "old"])
        author[many: "books"] = ["a", "b"].map { first.make("Book", ["name": .text($0)]) }
        try first.save()
        let second = store.context()
        let counterpart = try second.counterpart(of: author)
        _ = counterpart[many: "books"]
        return (store, (first, author), (second, counterpart))
    }

    @Test(arguments: StoreKind.allCases)
    func `saved changes reach the objects of other contexts`(kind: StoreKind) throws {
        let (store, (first, author), (second, counterpart)) = try Self.contexts(kind)
        author["name"] = "new"
        try first.save()
        store.counter.reset()
        _ = try second.count(second.request("Author"))
        #expect(counterpart["name"] == "new")
        #expect(store.counter.reads == 1, "the count itself")
    }

    @Test(arguments: StoreKind.allCases)
    func `objects deleted by another context count as deleted and keep their values`(kind: StoreKind) throws {
        let (store, (first, author), (second, counterpart)) = try Self.contexts(kind)
        defer { _ = store }
        let books = counterpart[many: "books"]
        first.delete(author)
        try first.save()
        #expect(try second.all("Author").isEmpty)
        #expect(counterpart.isObjectDeleted)
        #expect(counterpart["name"] == "old")
        #expect(books[0][one: "author"] == nil)
        #expect(!second.hasChanges)
    }

    // context                                | another context
    // has read the books of three authors    |
    // relates a book to the third, or none   |
    //                                        | relates it to the second, saves
    // reads all books again                  |
    @Test(arguments: StoreKind.allCases, [true, false])
    func `an object with an unsaved reference is no member of the owner in the store`(
        kind: StoreKind,
        hasOwner: Bool
    ) throws {
        let store = try TestStore(kind)
        let first = store.context()
        let authors = ["1", "2", "3"].map { first.make("Author", ["name": $0]) }
        let book = first.make("Book", ["name": "book"])
        book[one: "author"] = authors[0]
        try first.save()
        let second = store.context()
        second.mergePolicy = .mergeByPropertyObjectTrump
        let others = try authors.map { try second.counterpart(of: $0) }
        let moved = try second.counterpart(of: book)
        #expect(others.map { $0[many: "books"].count } == [1, 0, 0])
        moved[one: "author"] = hasOwner ? others[2] : nil
        book[one: "author"] = authors[1]
        try first.save()
        second.processPendingChanges()
        #expect(others.map { $0[many: "books"].count } == [0, 0, hasOwner ? 1 : 0])
        second.rollback()
        #expect(others.map { $0[many: "books"].count } == [0, 1, 0])
        moved[one: "author"] = hasOwner ? others[2] : nil
        second.delete(others[1])
        try second.save()
        let fresh = store.context()
        #expect(try fresh.one("Book")[one: "author"]?["name"] == (hasOwner ? "3" : nil))
        #expect(try store.problems() == [])
    }

    // context                                | another context
    // has read the books of two authors      |
    //                                        | changes the book by a batch request
    //                                        | relates the book to the second author, saves
    // reads all books again                  |
    @Test(arguments: StoreKind.allCases)
    func `an object leaves its owner also if its row is read before the announcement`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let first = store.context()
        let authors = ["1", "2"].map { first.make("Author", ["name": $0]) }
        let book = first.make("Book", ["name": "book"])
        book[one: "author"] = authors[0]
        try first.save()
        let second = store.context()
        let others = try authors.map { try second.counterpart(of: $0) }
        let moved = try second.counterpart(of: book)
        #expect(others.map { $0[many: "books"].count } == [1, 0])
        try first.execute(BatchUpdateRequest(book.entity, propertiesToUpdate: ["pages": .literal(.integer(400))]))
        book[one: "author"] = authors[1]
        try first.save()
        second.processPendingChanges()
        #expect(moved[one: "author"] === others[1])
        #expect(others.map { $0[many: "books"].count } == [0, 1])
        #expect(try store.problems() == [])
    }

    // context                                | another context
    // relates a cover to the third book,     |
    // or none                                |
    //                                        | relates it to the second, saves
    // deletes the second, saves              |
    @Test(arguments: StoreKind.allCases, [true, false])
    func `a cascade keeps an object whose unsaved one-to-one reference leads to another owner`(
        kind: StoreKind,
        hasBook: Bool
    ) throws {
        let store = try TestStore(kind)
        let first = store.context()
        let books = ["1", "2", "3"].map { first.make("Book", ["name": $0]) }
        let cover = first.make("Cover", ["name": "cover"])
        cover[one: "book"] = books[0]
        try first.save()
        let second = store.context()
        second.mergePolicy = .mergeByPropertyObjectTrump
        let others = try books.map { try second.counterpart(of: $0) }
        let moved = try second.counterpart(of: cover)
        moved[one: "book"] = hasBook ? others[2] : nil
        cover[one: "book"] = books[1]
        try first.save()
        second.processPendingChanges()
        second.delete(others[1])
        try second.save()
        #expect(!moved.isObjectDeleted)
        let fresh = store.context()
        #expect(try fresh.one("Cover")[one: "book"]?["name"] == (hasBook ? "3" : nil))
        #expect(try store.problems() == [])
    }

    // context                                | another context
    // deletes an author, which clears the    |
    // author of the book                     |
    //                                        | changes the book, saves
    // reverts the deletion                   |
    @Test(arguments: StoreKind.allCases, ["refresh", "undo"])
    func `a reverted deletion restores members that another context has changed meanwhile`(
        kind: StoreKind,
        reversal: String
    ) throws {
        let (store, (first, author), (second, counterpart)) = try Self.contexts(kind)
        second.mergePolicy = .mergeByPropertyObjectTrump
        second.undoManager = UndoManager()
        let books = counterpart[many: "books"]
        second.delete(counterpart)
        second.processPendingChanges()
        #expect(books.allSatisfy { $0[one: "author"] == nil })
        for book in author[many: "books"] { book["pages"] = 5 }
        try first.save()
        second.processPendingChanges()
        if reversal == "undo" { second.undoManager?.undo() } else { second.refresh(counterpart, mergeChanges: false) }
        #expect(counterpart[many: "books"].names == ["a", "b"])
        #expect(books.allSatisfy { $0[one: "author"] === counterpart })
        try second.save()
        let fresh = store.context()
        #expect(try fresh.one("Author")[many: "books"].count == 2)
        #expect(try store.problems() == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `to-many relationships follow the saves of other contexts`(kind: StoreKind) throws {
        let (store, (first, author), (second, counterpart)) = try Self.contexts(kind)
        let tag = first.make("Tag")
        let books = author[many: "books"]
        books[0][many: "tags"] = [tag]
        let added = first.make("Book", ["name": "c"])
        added[one: "author"] = author
        books[1][one: "author"] = nil
        try first.save()
        let own = try second.counterpart(of: books[0])
        _ = try second.all("Tag")
        #expect(counterpart[many: "books"].names == ["a", "c"])
        #expect(own[many: "tags"].count == 1)
        let other = try second.one("Tag")
        #expect(other[many: "books"].texts("name") == ["a"])
        first.delete(added)
        tag[many: "books"] = [books[1]]
        try first.save()
        _ = try second.all("Book")
        #expect(counterpart[many: "books"].names == ["a"])
        #expect(own[many: "tags"].isEmpty)
        #expect(other[many: "books"].texts("name") == ["b"])
        _ = store
    }

    @Test(arguments: StoreKind.allCases)
    func `an ordered relationship follows another context's order`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let first = store.context()
        let book = first.make("Book")
        book[many: "chapters"] = ["a", "b", "c"].map { first.make("Chapter", ["name": .text($0)]) }
        try first.save()
        let second = store.context()
        let counterpart = try second.one("Book")
        #expect(counterpart[many: "chapters"].texts("name") == ["a", "b", "c"])
        book[many: "chapters"].reverse()
        try first.save()
        _ = try second.all("Book")
        #expect(counterpart[many: "chapters"].texts("name") == ["c", "b", "a"])
    }

    @Test(arguments: StoreKind.allCases)
    func `unsaved changes are invisible to other contexts`(kind: StoreKind) throws {
        let (store, (first, author), (second, counterpart)) = try Self.contexts(kind)
        defer { _ = store }
        author["name"] = "new"
        first.make("Author")
        #expect(try second.all("Author").count == 1)
        #expect(counterpart["name"] == "old")
    }

    @Test(arguments: StoreKind.allCases)
    func `both contexts may delete the same object`(kind: StoreKind) throws {
        let (store, (first, author), (second, counterpart)) = try Self.contexts(kind)
        first.delete(author)
        second.delete(counterpart)
        try first.save()
        try second.save()
        #expect(!second.hasChanges)
        #expect(try store.context().count(first.request("Author")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `changes of two contexts to different members of one collection are merged`(kind: StoreKind) throws {
        let (store, (first, author), (second, counterpart)) = try Self.contexts(kind)
        let tags = (0..<2).map { first.make("Tag", ["name": .text("\($0)")]) }
        try first.save()
        let book = author[many: "books"][0]
        let other = try second.counterpart(of: book)
        _ = other[many: "tags"]
        book[many: "tags"] = [tags[0]]
        other[many: "tags"] = [try second.counterpart(of: tags[1])]
        try first.save()
        try second.save()
        #expect(other[many: "tags"].names == ["0", "1"])
        let reader = store.context()
        #expect(try reader.counterpart(of: book)[many: "tags"].names == ["0", "1"])
        _ = counterpart
    }

    @Test(arguments: StoreKind.allCases)
    func `a moved member that is not in memory leaves the members of its old owner`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let writer = store.context()
        let authors = ["a", "b"].map { writer.make("Author", ["name": .text($0)]) }
        authors[0][many: "books"] = [writer.make("Book", ["name": "moves"]), writer.make("Book", ["name": "stays"])]
        try writer.save()
        let reader = store.context()
        let owner = try reader.counterpart(of: authors[0])
        #expect(owner[many: "books"].count == 2)
        _ = reader.registeredObjects
        #expect(reader.registeredObjects.count == 1, "the books are released")
        authors[0][many: "books"][0][one: "author"] = authors[1]
        try writer.save()
        _ = try reader.count(reader.request("Tag"))
        #expect(owner[many: "books"].texts("name") == ["stays"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a changed member that is moved twice leaves the members of the owner between`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (reader, writer) = (store.context(), store.context())
        let names = ["a", "b", "c"]
        let owners = names.map { writer.make("Author", ["name": .text($0)]) }
        let moved = writer.make("Book", ["name": "moved"])
        moved[one: "author"] = owners[0]
        try writer.save()
        let known = try owners.map { try reader.counterpart(of: $0) }
        try reader.counterpart(of: moved)["pages"] = 7
        for (owner, name) in zip(owners, names).dropFirst() {
            moved[one: "author"] = owner
            try writer.save()
            reader.processPendingChanges()
            #expect(known.filter { !$0[many: "books"].isEmpty }.texts("name") == [name])
        }
    }

    // context                                | another context
    // has read the members of two owners,    |
    // refreshes a member                     |
    //                                        | moves the member, saves
    // reads the member                       |
    @Test(arguments: StoreKind.allCases)
    func `a member that is read after its move leaves the members of its old owner`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let writer = store.context()
        let owners = ["a", "b"].map { writer.make("Author", ["name": .text($0)]) }
        let moved = writer.make("Book", ["name": "moved"])
        moved[one: "author"] = owners[0]
        try writer.save()
        let reader = store.context()
        let known = try owners.map { try reader.counterpart(of: $0) }
        let member = try reader.counterpart(of: moved)
        #expect(known.map { $0[many: "books"].count } == [1, 0])
        reader.refresh(member, mergeChanges: false)
        moved[one: "author"] = owners[1]
        try writer.save()
        #expect(member[one: "author"] === known[1])
        reader.processPendingChanges()
        #expect(known.map { $0[many: "books"].count } == [0, 1])
    }

    @Test(arguments: StoreKind.allCases)
    func `the callback for saves of others is called for a save that preceded it`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (reader, writer) = (store.context(), store.context())
        writer.make("Author", [:])
        try writer.save()
        let calls = Guarded(0)
        reader.onRemoteChange = { calls.withLock { $0 += 1 } }
        #expect(calls.withLock(\.self) == 1)
        reader.processPendingChanges()
        writer.make("Author", [:])
        try writer.save()
        #expect(calls.withLock(\.self) == 2)
    }
}
