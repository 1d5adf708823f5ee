import ObjectGraph
import Testing

@Suite("References of changed objects that another context has changed") struct OutdatedReferenceTests {
    /// A book that one context has renamed, and to which another one has given an author since.
    private struct Scene {
        let store: TestStore
        let context: ManagedObjectContext
        let book: ManagedObject
        let author: ManagedObject
        let next: ManagedObject

        init(_ kind: StoreKind, _ policy: MergePolicy, isSameCoordinator: Bool, fetches: Bool) throws {
            store = try TestStore(kind)
            let other =
                isSameCoordinator
                ? store.context() : ManagedObjectContext(coordinator: try store.anotherCoordinator())
            let (otherBook, otherAuthor) = (other.make("Book", ["name": "old"]), other.make("Author", ["name": "a"]))
            let otherNext = other.make("Author", ["name": "b"])
            try other.save()
            context = store.context()
            context.mergePolicy = policy
            book = try context.counterpart(of: otherBook)
            author = try context.counterpart(of: otherAuthor)
            next = try context.counterpart(of: otherNext)
            book["name"] = "new"
            otherBook[one: "author"] = otherAuthor
            try other.save()
            if fetches { _ = try context.all("Book") }
        }

        /// The name of the book's author in the store.
        func savedAuthor() throws -> String? {
            let reader = store.context()
            return try reader.counterpart(of: book)[one: "author"]?.text("name")
        }
    }

    /// A way to take the book from its author.
    enum Removal: CaseIterable, Sendable {
        case member, allMembers, destination
    }

    @Test(arguments: StoreKind.allCases, Removal.allCases)
    func `are cleared by a removal after the members were read`(kind: StoreKind, removal: Removal) throws {
        for isSameCoordinator in [true, false] {
            for fetches in [true, false] {
                let scene = try Scene(
                    kind,
                    .mergeByPropertyObjectTrump,
                    isSameCoordinator: isSameCoordinator,
                    fetches: fetches
                )
                let comment = Comment("same coordinator \(isSameCoordinator), fetches \(fetches)")
                #expect(scene.author[many: "books"] === [scene.book], comment)
                #expect(scene.book[one: "author"] === scene.author, comment)
                switch removal {
                case .member: scene.author.removeMember(scene.book, forRelationship: "books")
                case .allMembers: scene.author[many: "books"] = []
                case .destination: scene.book[one: "author"] = nil
                }
                try scene.context.save()
                #expect(scene.author[many: "books"].isEmpty, comment)
                #expect(scene.book[one: "author"] == nil, comment)
                #expect(try scene.savedAuthor() == nil, comment)
                #expect(scene.book["name"] == "new", comment)
            }
        }
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `move to another object once`(kind: StoreKind, isSameCoordinator: Bool) throws {
        let scene = try Scene(
            kind,
            .mergeByPropertyObjectTrump,
            isSameCoordinator: isSameCoordinator,
            fetches: true
        )
        _ = scene.author[many: "books"]
        scene.book[one: "author"] = scene.next
        #expect(scene.author[many: "books"].isEmpty)
        #expect(scene.next[many: "books"] === [scene.book])
        try scene.context.save()
        #expect(scene.author[many: "books"].isEmpty)
        #expect(try scene.savedAuthor() == "b")
    }

    @Test(arguments: StoreKind.allCases)
    func `stay in conflict under the policy error`(kind: StoreKind) throws {
        let scene = try Scene(kind, .error, isSameCoordinator: true, fetches: true)
        _ = scene.author[many: "books"]
        #expect(throws: ObjectGraphError.self) { try scene.context.save() }
        scene.context.rollback()
        #expect(scene.book["name"] == "old")
        #expect(scene.book[one: "author"] === scene.author)
    }
}
