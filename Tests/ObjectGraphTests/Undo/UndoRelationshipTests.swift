import ObjectGraph
import Testing

@Suite struct UndoRelationshipTests {
    /// An author with books a, b and c, of which a has the tags x and y, and chapters 1, 2 and 3; all saved.
    private struct Library {
        let store: TestStore
        let context: ManagedObjectContext
        let author: ManagedObject
        let other: ManagedObject
        let books: [ManagedObject]
        let tags: [ManagedObject]
        let chapters: [ManagedObject]

        init(_ kind: StoreKind) throws {
            store = try TestStore(kind)
            let context = store.context()
            author = context.make("Author", ["name": "author"])
            other = context.make("Author", ["name": "other"])
            books = ["a", "b", "c"].map { context.make("Book", ["name": .text($0)]) }
            tags = ["x", "y"].map { context.make("Tag", ["name": .text($0)]) }
            chapters = ["1", "2", "3"].map { context.make("Chapter", ["name": .text($0)]) }
            author[many: "books"] = books
            books[0][many: "tags"] = tags
            books[0][many: "chapters"] = chapters
            try context.save()
            context.undoManager = UndoManager()
            self.context = context
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a to-one relationship is undone on both sides`(kind: StoreKind) throws {
        let library = try Library(kind)
        let (context, author, other, books) = (library.context, library.author, library.other, library.books)
        books[0][one: "author"] = other
        context.undo()
        #expect(books[0][one: "author"] === author)
        #expect(author[many: "books"].texts("name") == ["a", "b", "c"])
        #expect(other[many: "books"].isEmpty)
        #expect(!context.hasChanges)
        context.redo()
        #expect(books[0][one: "author"] === other)
        #expect(author[many: "books"].names == ["b", "c"])
        #expect(other[many: "books"].names == ["a"])
        try context.save()
        let reader = library.store.context()
        #expect(try reader.counterpart(of: other)[many: "books"].names == ["a"])
    }

    @Test(arguments: StoreKind.allCases)
    func `undoing a one-to-one change restores both former partners`(kind: StoreKind) throws {
        let library = try Library(kind)
        let (context, books) = (library.context, library.books)
        let covers = ["front", "back"].map { context.make("Cover", ["name": .text($0)]) }
        books[0][one: "cover"] = covers[0]
        books[1][one: "cover"] = covers[1]
        try context.save()
        books[0][one: "cover"] = covers[1]
        context.undo()
        #expect(books[0][one: "cover"] === covers[0])
        #expect(books[1][one: "cover"] === covers[1])
        #expect(covers.map { $0[one: "book"] } === [books[0], books[1]])
        context.redo()
        #expect(books[0][one: "cover"] === covers[1])
        #expect(books[1][one: "cover"] == nil)
        #expect(covers[0][one: "book"] == nil)
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `to-many members are undone on both sides, and keep their positions`(kind: StoreKind, loaded: Bool) throws {
        let library = try Library(kind)
        let context = loaded ? library.context : library.store.context()
        if !loaded { context.undoManager = UndoManager() }
        let author = try context.counterpart(of: library.author)
        let books = try library.books.map { try context.counterpart(of: $0) }
        if loaded { _ = author[many: "books"] }
        books[1][one: "author"] = nil
        #expect(author[many: "books"].texts("name") == ["a", "c"])
        context.undo()
        #expect(author[many: "books"].texts("name") == ["a", "b", "c"])
        #expect(books[1][one: "author"] === author)
        #expect(!context.hasChanges)
        context.redo()
        #expect(author[many: "books"].texts("name") == ["a", "c"])
        author[many: "books"] = []
        context.undo()
        context.undo()
        #expect(author[many: "books"].texts("name") == ["a", "b", "c"])
        #expect(!context.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func `many-to-many members are undone on both sides`(kind: StoreKind) throws {
        let library = try Library(kind)
        let (context, books, tags) = (library.context, library.books, library.tags)
        let new = context.make("Tag", ["name": "z"])
        books[0][many: "tags"] = [tags[1], new]
        books[1][many: "tags"] = [new]
        context.undo()
        #expect(books[0][many: "tags"].names == ["x", "y"])
        #expect(tags[0][many: "books"].names == ["a"])
        #expect(books[1][many: "tags"].isEmpty)
        #expect(!context.hasChanges)
        context.redo()
        #expect(books[0][many: "tags"].names == ["y", "z"])
        #expect(new[many: "books"].texts("name") == ["a", "b"])
        try context.save()
        context.undo()
        try context.save()
        let reader = library.store.context()
        #expect(try reader.counterpart(of: books[0])[many: "tags"].names == ["x", "y"])
        #expect(try reader.all("Tag").names == ["x", "y"])
    }

    @Test(arguments: StoreKind.allCases)
    func `members of a relationship without inverse are undone`(kind: StoreKind) throws {
        let library = try Library(kind)
        let (context, author, books) = (library.context, library.author, library.books)
        author[many: "readings"] = [books[0], books[1]]
        author[one: "favourite"] = books[1]
        try context.save()
        author[many: "readings"] = [books[2], books[1]]
        author[one: "favourite"] = books[2]
        context.undo()
        #expect(author[many: "readings"].names == ["a", "b"])
        #expect(author[one: "favourite"] === books[1])
        #expect(!context.hasChanges)
        context.redo()
        #expect(author[many: "readings"].names == ["b", "c"])
        try context.save()
        context.undo()
        context.undo()
        #expect(author[many: "readings"].isEmpty)
        #expect(author[one: "favourite"] == nil)
        try context.save()
        let reader = library.store.context()
        #expect(try reader.counterpart(of: author)[many: "readings"].isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `an order is undone`(kind: StoreKind) throws {
        let library = try Library(kind)
        let (context, book, chapters) = (library.context, library.books[0], library.chapters)
        book[many: "chapters"] = chapters.reversed()
        context.undo()
        #expect(book[many: "chapters"].texts("name") == ["1", "2", "3"])
        #expect(!context.hasChanges)
        context.redo()
        #expect(book[many: "chapters"].texts("name") == ["3", "2", "1"])
        try context.save()
        context.undo()
        try context.save()
        let reader = library.store.context()
        #expect(try reader.counterpart(of: book)[many: "chapters"].texts("name") == ["1", "2", "3"])
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `an ordered member is restored at its position`(kind: StoreKind, loaded: Bool) throws {
        let library = try Library(kind)
        let context = loaded ? library.context : library.store.context()
        if !loaded { context.undoManager = UndoManager() }
        let books = try library.books.map { try context.counterpart(of: $0) }
        let chapters = try library.chapters.map { try context.counterpart(of: $0) }
        chapters[1][one: "book"] = books[1]
        #expect(books[0][many: "chapters"].texts("name") == ["1", "3"])
        books[0][many: "chapters"] = [chapters[2], chapters[0]]
        context.undo()
        #expect(books[0][many: "chapters"].texts("name") == ["1", "2", "3"])
        #expect(books[1][many: "chapters"].isEmpty)
        #expect(!context.hasChanges)
        context.redo()
        #expect(books[0][many: "chapters"].texts("name") == ["3", "1"])
        #expect(books[1][many: "chapters"].texts("name") == ["2"])
        try context.save()
        context.undo()
        try context.save()
        let reader = library.store.context()
        #expect(try reader.counterpart(of: books[0])[many: "chapters"].texts("name") == ["1", "2", "3"])
    }

    @Test(arguments: StoreKind.allCases)
    func `relationships of an entity with itself are undone`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.people)
        let context = store.context()
        let people = ["a", "b", "c"].map { context.make("Person", ["name": .text($0)]) }
        people[0][one: "spouse"] = people[1]
        people[0][many: "friends"] = [people[0], people[1]]
        try context.save()
        context.undoManager = UndoManager()
        people[1][one: "spouse"] = people[2]
        people[2][many: "friends"] = people
        context.undo()
        #expect(people.map { $0[one: "spouse"] } === [people[1], people[0], nil])
        #expect(people.map { $0[many: "friends"].names } == [["a", "b"], ["a"], []])
        #expect(!context.hasChanges)
        context.redo()
        #expect(people.map { $0[one: "spouse"] } === [nil, people[2], people[1]])
        #expect(people.map { $0[many: "friends"].names } == [["a", "b", "c"], ["a", "c"], ["a", "b", "c"]])
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `an undo restores no reference to a permanently deleted object`(kind: StoreKind, isHeld: Bool) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "author"])
        let books = ["a", "b"].map { context.make("Book", ["name": .text($0)]) }
        author[one: "favourite"] = books[0]
        author[many: "readings"] = [books[0]]
        try context.save()
        context.undoManager = UndoManager()
        author[many: "readings"] = [books[1]]
        context.processPendingChanges()
        try context.save()
        let id = books[0].managedObjectID
        let other = store.context()
        other.delete(try other.counterpart(of: books[0]))
        try other.save()
        context.processPendingChanges()
        // The row of the author still holds the key.
        author[one: "favourite"] = books[1]
        context.processPendingChanges()
        let held = isHeld ? books : []
        _ = context.registeredObjects
        #expect(context.registeredObject(for: id) == nil)
        context.undo()
        context.undo()
        #expect(author[one: "favourite"] == nil)
        #expect(author[many: "readings"].isEmpty)
        try context.save()
        #expect(try store.problems() == [])
        #expect(held.count == (isHeld ? 2 : 0))
    }

    @Test(arguments: StoreKind.allCases)
    func `an undo of references to a registered owner reads nothing`(kind: StoreKind) throws {
        let library = try Library(kind)
        for book in library.books { book[one: "author"] = nil }
        library.context.processPendingChanges()
        library.store.counter.reset()
        library.context.undo()
        #expect(library.store.counter.reads == 0)
        #expect(library.books.allSatisfy { $0[one: "author"] === library.author })
        #expect(library.author[many: "books"].texts("name") == ["a", "b", "c"])
    }

    @Test(arguments: StoreKind.allCases)
    func `an undo restores references to objects that cannot be read`(kind: StoreKind) throws {
        struct IsBroken: Error {}
        let store = try TestStore(kind)
        let writer = store.context()
        let writtenAuthor = writer.make("Author", ["name": "author"])
        let book = writer.make("Book", ["name": "a"])
        writtenAuthor[one: "favourite"] = book
        writtenAuthor[many: "readings"] = [book]
        try writer.save()
        let context = store.context()
        let author = try context.one("Author")
        context.undoManager = UndoManager()
        author[one: "favourite"] = nil
        author[many: "readings"] = []
        context.processPendingChanges()
        try context.save()
        _ = context.registeredObjects
        #expect(context.registeredObject(for: book.managedObjectID) == nil)
        store.counter.failReads(with: IsBroken())
        context.undo()
        store.counter.failReads(with: nil)
        try context.save()
        #expect(author[one: "favourite"]?.managedObjectID == book.managedObjectID)
        #expect(author[many: "readings"].names == ["a"])
        let reader = store.context()
        let found = try reader.one("Author")
        #expect(found[one: "favourite"]?.managedObjectID == book.managedObjectID)
        #expect(found[many: "readings"].names == ["a"])
        #expect(try store.problems() == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `undoing an order restores that of members that are not saved`(kind: StoreKind) throws {
        for savedCount in [0, 2] {
            let store = try TestStore(kind)
            let context = store.context()
            context.undoManager = UndoManager()
            let tag = context.make("Tag", ["name": "tag"])
            tag[many: "books"] = (0..<savedCount).map { context.make("Book", ["name": .text("stored \($0)")]) }
            if savedCount > 0 { try context.save() }
            tag[many: "books"] += (0..<3).map { context.make("Book", ["name": .text("new \($0)")]) }
            context.processPendingChanges()
            let names = tag[many: "books"].texts("name")
            tag[many: "books"] = tag[many: "books"].reversed()
            context.processPendingChanges()
            context.undo()
            #expect(tag[many: "books"].texts("name") == names)
            context.redo()
            #expect(tag[many: "books"].texts("name") == names.reversed())
            context.undo()
            try context.save()
            let reader = store.context()
            #expect(try reader.one("Tag")[many: "books"].texts("name") == names)
        }
    }
}
