import ObjectGraph
import Testing

@Suite("References to objects that another context deleted") struct MissingDestinationTests {
    private static let settlingPolicies: [MergePolicy] = [
        .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    /// A context that has read all objects, and a deletion by another context.
    private struct Scene {
        let store: TestStore
        let context: ManagedObjectContext

        init(_ kind: StoreKind, _ policy: MergePolicy) throws {
            store = try TestStore(kind)
            let maker = store.context()
            maker.make("Author", ["name": "author"])
            maker.make("Book", ["name": "book"])
            maker.make("Tag", ["name": "tag"])
            try maker.save()
            context = store.context()
            context.mergePolicy = policy
        }

        func delete(_ entity: String, inSameContainer: Bool = false) throws {
            let other =
                inSameContainer ? store.context() : ManagedObjectContext(coordinator: try store.anotherCoordinator())
            other.delete(try other.one(entity))
            try other.save()
            if !inSameContainer { try other.coordinator.removeAllStores() }
        }

        func expectProblem(_ object: ManagedObject, _ property: String) {
            let error = #expect(throws: ObjectGraphError.self) { try context.save() }
            guard case .validation(let problems)? = error else {
                Issue.record("the error is \(String(describing: error))"); return
            }
            #expect(problems == [.init(id: object.managedObjectID, property: property, reason: .missingDestination)])
            #expect("\(error!)".contains("\(object.managedObjectID.entity.name).\(property)"))
        }
    }

    // context                         other context
    // reads the author and the book
    //                                 deletes the author and saves
    // book.author = author
    // saves
    @Test(arguments: StoreKind.allCases, [true, false])
    func `a save without a policy names the property`(kind: StoreKind, inSameContainer: Bool) throws {
        let scene = try Scene(kind, .error)
        let author = try scene.context.one("Author")
        let book = try scene.context.one("Book")
        try scene.delete("Author", inSameContainer: inSameContainer)
        book[one: "author"] = author
        scene.expectProblem(book, "author")
        scene.expectProblem(book, "author")
        #expect(author.isObjectDeleted)
        book[one: "author"] = nil
        book["name"] = "changed"
        try scene.context.save()
        #expect(try scene.store.context().one("Book")["name"] == "changed")
        #expect(try scene.store.problems().isEmpty)
    }

    @Test(arguments: StoreKind.allCases, settlingPolicies)
    func `an optional reference is dropped`(kind: StoreKind, policy: MergePolicy) throws {
        let scene = try Scene(kind, policy)
        let author = try scene.context.one("Author")
        let book = try scene.context.one("Book")
        let new = scene.context.make("Book", ["name": "new"])
        try scene.delete("Author")
        book[one: "author"] = author
        book["name"] = "changed"
        new[one: "author"] = author
        try scene.context.save()
        #expect(author.isObjectDeleted)
        for context in [scene.context, scene.store.context()] {
            let books = try context.all("Book")
            #expect(books.names == ["changed", "new"])
            #expect(books.allSatisfy { $0[one: "author"] == nil })
        }
        #expect(try scene.store.problems().isEmpty)
    }

    @Test(arguments: StoreKind.allCases, [MergePolicy.error] + settlingPolicies)
    func `a required reference is an error`(kind: StoreKind, policy: MergePolicy) throws {
        let scene = try Scene(kind, policy)
        let book = try scene.context.one("Book")
        let chapter = scene.context.make("Chapter", ["name": "chapter"])
        chapter[one: "book"] = book
        try scene.delete("Book")
        scene.expectProblem(chapter, "book")
        #expect(chapter["name"] == "chapter")
        #expect(try scene.store.context().all("Chapter").isEmpty)
        scene.context.delete(chapter)
        try scene.context.save()
        #expect(try scene.store.problems().isEmpty)
    }

    @Test(arguments: StoreKind.allCases, settlingPolicies)
    func `a member of a many-to-many relationship is dropped`(kind: StoreKind, policy: MergePolicy) throws {
        for deleted in ["Tag", "Book"] {
            let scene = try Scene(kind, policy)
            let book = try scene.context.one("Book")
            let tag = try scene.context.one("Tag")
            let second = scene.context.make("Tag", ["name": "second"])
            book[many: "tags"] = [tag, second]
            try scene.delete(deleted)
            try scene.context.save()
            let reader = scene.store.context()
            let tags = try reader.all("Book").flatMap { $0[many: "tags"] }
            switch (deleted, policy) {
            case ("Tag", _): #expect(tags.names == ["second"])
            case (_, .overwrite): #expect(tags.names == ["tag", "second"])
            default:
                #expect(tags.isEmpty)
                #expect(book.isObjectDeleted)
            }
            #expect(try reader.all("Tag").names.contains("second"))
            #expect(try scene.store.problems().isEmpty, "\(deleted)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a new member that another context deleted is an error without a policy`(kind: StoreKind) throws {
        for inSameContainer in [true, false] {
            let scene = try Scene(kind, .error)
            let book = try scene.context.one("Book")
            book[many: "tags"] = [try scene.context.one("Tag")]
            try scene.delete("Tag", inSameContainer: inSameContainer)
            scene.expectProblem(book, "tags")
            scene.context.rollback()
            #expect(book[many: "tags"].isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the overwrite policy inserts a changed destination again`(kind: StoreKind) throws {
        let scene = try Scene(kind, .overwrite)
        let author = try scene.context.one("Author")
        let book = try scene.context.one("Book")
        author[many: "books"] = [book]
        try scene.delete("Author")
        author["name"] = "again"
        try scene.context.save()
        let reader = scene.store.context()
        #expect(try reader.one("Book")[one: "author"]?["name"] == "again")
        #expect(try scene.store.problems().isEmpty)
    }
}
