import ObjectGraph
import Testing

@Suite struct ChildContextTests {
    /// A context with a saved author of two books, and a child context.
    private static func contexts(
        _ kind: StoreKind
    ) throws -> (store: TestStore, parent: ManagedObjectContext, author: ManagedObject, child: ManagedObjectContext) {
        let store = try TestStore(kind)
        let parent = store.context()
        let author = parent.make("Author", ["name": "old", "born": 1867])
        author[many: "books"] = ["a", "b"].map { parent.make("Book", ["name": .text($0)]) }
        try parent.save()
        return (store, parent, author, ManagedObjectContext(parent: parent))
    }

    // MARK: Reading

    @Test(arguments: StoreKind.allCases)
    func `a child reads saved objects`(kind: StoreKind) throws {
        let (_, parent, author, child) = try Self.contexts(kind)
        let counterpart = try child.one("Author")
        #expect(counterpart !== author)
        #expect(counterpart.managedObjectContext === child)
        #expect(counterpart.managedObjectID == author.managedObjectID)
        #expect(counterpart["name"] == "old")
        #expect(counterpart[many: "books"].texts("name") == ["a", "b"])
        #expect(!child.hasChanges && !parent.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func `a child reads the unsaved changes of its parent`(kind: StoreKind) throws {
        let (_, parent, author, child) = try Self.contexts(kind)
        author["name"] = "new"
        let added = parent.make("Book", ["name": "c"])
        added[one: "author"] = author
        parent.delete(author[many: "books"][0])
        let counterpart = try child.one("Author")
        #expect(counterpart["name"] == "new")
        #expect(counterpart["born"] == 1867)
        #expect(counterpart[many: "books"].texts("name") == ["b", "c"])
        #expect(try child.all("Book").names == ["b", "c"])
        #expect(try child.all("Author", where: child.model.path("Author", "name") == "old").isEmpty)
        #expect(try child.count(child.request("Book")) == 2)
        #expect(try child.fetchIDs(child.request("Book")) == parent.fetchIDs(parent.request("Book")))
    }

    @Test(arguments: StoreKind.allCases)
    func `a new object of the parent has the same identifier in the child`(kind: StoreKind) throws {
        let (_, parent, _, child) = try Self.contexts(kind)
        let added = parent.make("Book", ["name": "c"])
        let temporary = added.managedObjectID
        #expect(temporary.isTemporary)
        let counterpart = try #require(child.object(with: temporary) as? ManagedObject)
        #expect(counterpart["name"] == "c")
        #expect(!counterpart.managedObjectID.isTemporary)
        #expect(counterpart.managedObjectID == added.managedObjectID)
        #expect(parent.object(with: temporary) === added)
        #expect(try child.existingObject(with: temporary) === counterpart)
        #expect(added.isInserted && !counterpart.isInserted)
    }

    @Test(arguments: StoreKind.allCases)
    func `relationships to new objects of the parent survive their permanent identifiers`(kind: StoreKind) throws {
        let (store, parent, author, child) = try Self.contexts(kind)
        let tag = parent.make("Tag", ["name": "t"])
        let added = parent.make("Book", ["name": "c"])
        added[one: "author"] = author
        added[many: "tags"] = [tag]
        author[many: "readings"] = [added]
        #expect(try child.all("Book").count == 3)
        #expect(author[many: "books"].last === added)
        #expect(added[one: "author"] === author)
        #expect(tag[many: "books"] === [added])
        #expect(author[many: "readings"] === [added])
        try parent.save()
        let fresh = store.context()
        #expect(try fresh.one("Tag")[many: "books"].texts("name") == ["c"])
        #expect(try fresh.one("Author")[many: "readings"].texts("name") == ["c"])
    }

    @Test(arguments: StoreKind.allCases)
    func `walking a relationship of a child's objects costs a few statements`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let parent = store.context()
        for number in 0..<50 {
            let author = parent.make("Author", ["born": .integer(Int64(number))])
            author[many: "books"] = [parent.make("Book"), parent.make("Book")]
        }
        try parent.save()
        parent.reset()
        let child = ManagedObjectContext(parent: parent)
        store.counter.reset()
        let authors = try child.all("Author")
        #expect(authors.reduce(0) { $0 + $1[many: "books"].count } == 100)
        #expect(store.counter.reads <= 4)
    }

    // MARK: Saving

    @Test(arguments: StoreKind.allCases)
    func `a child's save moves its changes to the parent`(kind: StoreKind) throws {
        let (store, parent, author, child) = try Self.contexts(kind)
        let counterpart = try child.one("Author")
        counterpart["name"] = "new"
        let tag = child.make("Tag", ["name": "t"])
        let added = child.make("Book", ["name": "c", "pages": 7])
        added[one: "author"] = counterpart
        added[many: "tags"] = [tag]
        added[many: "chapters"] = [child.make("Chapter", ["name": "1"]), child.make("Chapter", ["name": "2"])]
        added[one: "cover"] = child.make("Cover", ["name": "hard"])
        child.delete(counterpart[many: "books"][0])
        #expect(author["name"] == "old")
        #expect(!parent.hasChanges)
        try child.save()

        #expect(!child.hasChanges && parent.hasChanges)
        #expect(author["name"] == "new")
        #expect(author[many: "books"].texts("name") == ["b", "c"])
        let book = author[many: "books"][1]
        #expect(book.managedObjectID == added.managedObjectID)
        #expect(book["pages"] == 7)
        #expect(book[many: "tags"].texts("name") == ["t"])
        #expect(book[many: "chapters"].texts("name") == ["1", "2"])
        #expect(book[one: "cover"]?["name"] == "hard")
        #expect(try store.context().one("Author")["name"] == "old", "nothing is in the store yet")

        try parent.save()
        let fresh = store.context()
        let saved = try fresh.one("Author")
        #expect(saved["name"] == "new")
        #expect(saved[many: "books"].texts("name") == ["b", "c"])
        #expect(saved[many: "books"][1].managedObjectID == added.managedObjectID)
        #expect(saved[many: "books"][1][many: "chapters"].texts("name") == ["1", "2"])
        #expect(added[many: "tags"] === [tag])
        #expect(try child.all("Book").names == ["b", "c"])
    }

    @Test(arguments: StoreKind.allCases)
    func `child and parent can save again and again`(kind: StoreKind) throws {
        let (store, parent, author, child) = try Self.contexts(kind)
        let counterpart = try child.one("Author")
        for round in 1...4 {
            counterpart["born"] = .integer(Int64(round))
            try child.save()
            counterpart["name"] = .text("\(round)")
            try child.save()
            if round % 2 == 0 { try parent.save() }
            author["born"] = .integer(Int64(100 + round))
            if round % 2 == 1 { try parent.save() }
        }
        try parent.save()
        let saved = try store.context().one("Author")
        #expect(saved["born"] == 104)
        #expect(saved["name"] == "4")
    }

    @Test(arguments: StoreKind.allCases)
    func `a child's value replaces the parent's, and other values stay`(kind: StoreKind) throws {
        let (_, parent, author, child) = try Self.contexts(kind)
        let counterpart = try child.one("Author")
        author["name"] = "parent"
        author["born"] = 1
        counterpart["name"] = "child"
        try child.save()
        #expect(author["name"] == "child")
        #expect(author["born"] == 1)
        #expect(try child.one("Author")["born"] == 1)
        try parent.save()
    }

    @Test(arguments: StoreKind.allCases)
    func `a moved object is not deleted with its former owner`(kind: StoreKind) throws {
        let (store, parent, _, child) = try Self.contexts(kind)
        let books = try child.all("Book")
        let chapter = child.make("Chapter", ["name": "1"])
        books[0][many: "chapters"] = [chapter]
        try child.save()
        try parent.save()
        chapter[one: "book"] = books[1]
        child.delete(books[0])
        try child.save()
        try parent.save()
        let fresh = store.context()
        #expect(try fresh.one("Chapter")[one: "book"]?["name"] == "b")
    }

    @Test(arguments: StoreKind.allCases)
    func `a child that is dropped leaves no trace`(kind: StoreKind) throws {
        let (_, parent, author, child) = try Self.contexts(kind)
        let counterpart = try child.one("Author")
        counterpart["name"] = "new"
        _ = child.make("Book")
        child.rollback()
        #expect(!child.hasChanges && !parent.hasChanges)
        #expect(counterpart["name"] == "old")
        #expect(author["name"] == "old")
    }

    @Test(arguments: StoreKind.allCases)
    func `a child validates its changes`(kind: StoreKind) throws {
        let (_, parent, _, child) = try Self.contexts(kind)
        _ = child.make("Chapter")
        #expect(throws: ObjectGraphError.self) { try child.save() }
        #expect(child.hasChanges && !parent.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func `changing an object that the parent deleted is a conflict`(kind: StoreKind) throws {
        let (_, parent, author, child) = try Self.contexts(kind)
        let counterpart = try child.one("Author")
        counterpart["name"] = "new"
        parent.delete(author)
        let error = #expect(throws: ObjectGraphError.self) { try child.save() }
        guard case .conflicts(let conflicts) = error else {
            Issue.record("the error is \(String(describing: error))")
            return
        }
        #expect(conflicts.map(\.objectID) == [counterpart.managedObjectID])
        child.mergePolicy = .overwrite
        try child.save()
        #expect(!author.isObjectDeleted)
        #expect(author["name"] == "new")
        try parent.save()
    }

    // MARK: Other contexts

    @Test(arguments: StoreKind.allCases)
    func `children merge the saves of other contexts`(kind: StoreKind) throws {
        let (store, parent, author, child) = try Self.contexts(kind)
        let sibling = ManagedObjectContext(parent: parent)
        let counterpart = try child.one("Author")
        _ = counterpart[many: "books"]
        let other = try sibling.one("Author")
        other["name"] = "sibling"
        other[many: "books"] = []
        try sibling.save()
        child.processPendingChanges()
        #expect(counterpart["name"] == "sibling")
        #expect(counterpart[many: "books"].isEmpty)

        author["name"] = "parent"
        try parent.save()
        child.processPendingChanges()
        #expect(counterpart["name"] == "parent")

        let stranger = store.context()
        let foreign = try stranger.one("Author")
        foreign["name"] = "stranger"
        try stranger.save()
        child.processPendingChanges()
        #expect(counterpart["name"] == "stranger")
        #expect(author["name"] == "stranger")
    }

    @Test(arguments: StoreKind.allCases)
    func `a conflict with another context shows when the parent is saved`(kind: StoreKind) throws {
        let (store, parent, _, child) = try Self.contexts(kind)
        let counterpart = try child.one("Author")
        counterpart["name"] = "child"
        try child.save()
        let stranger = store.context()
        try stranger.one("Author")["name"] = "stranger"
        try stranger.save()
        #expect(throws: ObjectGraphError.self) { try parent.save() }
        parent.mergePolicy = .mergeByPropertyObjectTrump
        try parent.save()
        #expect(try store.context().one("Author")["name"] == "child")
    }

    @Test(arguments: StoreKind.allCases)
    func `objects that the parent drops are deleted in the child`(kind: StoreKind) throws {
        let (_, parent, author, child) = try Self.contexts(kind)
        let counterpart = try child.one("Author")
        counterpart["name"] = "new"
        let added = child.make("Book", ["name": "c"])
        added[one: "author"] = counterpart
        try child.save()
        parent.rollback()
        #expect(author["name"] == "old")
        child.processPendingChanges()
        #expect(counterpart["name"] == "old")
        #expect(added.isObjectDeleted)
        #expect(counterpart[many: "books"].texts("name") == ["a", "b"])
        #expect(try child.all("Book").names == ["a", "b"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a child's save is one undo group of the parent`(kind: StoreKind) throws {
        let (store, parent, author, child) = try Self.contexts(kind)
        parent.undoManager = UndoManager()
        let counterpart = try child.one("Author")
        counterpart["name"] = "new"
        let added = child.make("Book", ["name": "c"])
        added[one: "author"] = counterpart
        try child.save()
        parent.undo()
        #expect(author["name"] == "old")
        #expect(author[many: "books"].texts("name") == ["a", "b"])
        child.processPendingChanges()
        #expect(counterpart["name"] == "old")
        parent.redo()
        #expect(author["name"] == "new")
        #expect(author[many: "books"].texts("name") == ["a", "b", "c"])
        try parent.save()
        parent.undo()
        try parent.save()
        let fresh = store.context()
        #expect(try fresh.one("Author")["name"] == "old")
        #expect(try fresh.all("Book").names == ["a", "b"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a child undoes its own saves`(kind: StoreKind) throws {
        let (store, parent, _, child) = try Self.contexts(kind)
        child.undoManager = UndoManager()
        let counterpart = try child.one("Author")
        counterpart["name"] = "new"
        child.delete(counterpart[many: "books"][0])
        try child.save()
        child.undo()
        #expect(counterpart["name"] == "old")
        try child.save()
        try parent.save()
        let fresh = store.context()
        #expect(try fresh.one("Author")["name"] == "old")
        #expect(try fresh.one("Author")[many: "books"].names == ["a", "b"])
    }

    @Test(arguments: StoreKind.allCases)
    func `children can have children`(kind: StoreKind) throws {
        let (store, parent, author, child) = try Self.contexts(kind)
        let grandchild = ManagedObjectContext(parent: child)
        let added = grandchild.make("Book", ["name": "c"])
        added[one: "author"] = try grandchild.one("Author")
        try grandchild.save()
        #expect(try child.all("Book").count == 3)
        #expect(try parent.all("Book").count == 2)
        try child.save()
        #expect(author[many: "books"].texts("name") == ["a", "b", "c"])
        try parent.save()
        let fresh = store.context()
        #expect(try fresh.one("Author")[many: "books"].texts("name") == ["a", "b", "c"])
        author["name"] = "new"
        try parent.save()
        #expect(try grandchild.one("Author")["name"] == "new")
    }

    @Test(arguments: StoreKind.allCases)
    func `batch requests of a child reach all contexts`(kind: StoreKind) throws {
        let (_, parent, author, child) = try Self.contexts(kind)
        let sibling = ManagedObjectContext(parent: parent)
        let known = try sibling.one("Author")
        let entity = child.model.entitiesByName["Author"]!
        try child.execute(BatchUpdateRequest(entity, propertiesToUpdate: ["name": .literal("batch")]))
        #expect(author["name"] == "batch")
        sibling.processPendingChanges()
        #expect(known["name"] == "batch")
    }

    @Test(arguments: StoreKind.allCases)
    func `objects of subentities keep their class in a child`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.animals)
        let parent = store.context()
        let keeper = parent.make("Keeper", ["name": "k"])
        keeper[many: "animals"] = [parent.make("Penguin", ["name": "p"]), parent.make("Cat", ["name": "c"])]
        let child = ManagedObjectContext(parent: parent)
        let animals = try child.all("Animal")
        #expect(animals.map(\.entity.name) == ["Penguin", "Cat"])
        let added = child.make("Bird", ["name": "b"])
        added[one: "keeper"] = try child.one("Keeper")
        try child.save()
        #expect(keeper[many: "animals"].map(\.entity.name) == ["Penguin", "Cat", "Bird"])
        try parent.save()
        #expect(try store.context().all("Bird").count == 2)
    }
}
