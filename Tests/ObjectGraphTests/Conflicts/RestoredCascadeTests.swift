import ObjectGraph
import Testing

@Suite("Deletions that a merge policy reverts, with the changes of the delete rules") struct RestoredCascadeTests {
    /// Two books of three chapters each, registered in two contexts.
    private struct Scene {
        let store: TestStore
        let other: ManagedObjectContext
        let theirs: [ManagedObject]
        let context: ManagedObjectContext
        let own: [ManagedObject]

        init(_ kind: StoreKind, _ policy: MergePolicy) throws {
            store = try TestStore(kind)
            other = store.context()
            theirs = (0..<2).map { [other] number in
                let book = other.make("Book", ["name": .text("book \(number)")])
                book[many: "chapters"] = (0..<3).map {
                    other.make("Chapter", ["name": .text("chapter \(number).\($0)")])
                }
                book[one: "cover"] = other.make("Cover", ["name": .text("cover \(number)")])
                return book
            }
            try other.save()
            context = store.context()
            context.mergePolicy = policy
            own = try theirs.map { [context] in try context.counterpart(of: $0) }
        }
    }

    @Test(arguments: StoreKind.allCases, [MergePolicy.mergeByPropertyStoreTrump, .rollback])
    func `objects deleted by the cascade are restored with it`(kind: StoreKind, policy: MergePolicy) throws {
        let scene = try Scene(kind, policy)
        scene.theirs[0]["name"] = "theirs"
        try scene.other.save()
        for book in scene.own { scene.context.delete(book) }
        try scene.context.save()
        #expect(!scene.own[0].isObjectDeleted)
        #expect(scene.own[1].isObjectDeleted)
        #expect(scene.own[0]["name"] == "theirs")
        for context in [scene.context, scene.store.context()] {
            let book = try context.one("Book")
            #expect(book[many: "chapters"].texts("name") == (0..<3).map { "chapter 0.\($0)" })
            #expect(book[one: "cover"]?["name"] == "cover 0")
            #expect(try context.all("Chapter").count == 3)
            #expect(try context.all("Cover").count == 1)
        }
        #expect(!scene.context.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func `objects that the program deleted stay deleted`(kind: StoreKind) throws {
        let scene = try Scene(kind, .mergeByPropertyStoreTrump)
        scene.theirs[0]["name"] = "theirs"
        try scene.other.save()
        let chapters = scene.own[0][many: "chapters"]
        scene.context.delete(chapters[0])
        scene.context.delete(scene.own[0])
        _ = scene.context.hasChanges
        scene.context.delete(chapters[2])
        try scene.context.save()
        let reader = scene.store.context()
        let book = try reader.one("Book", where: scene.store.model.path("Book", "name") == "theirs")
        #expect(book[many: "chapters"].texts("name") == ["chapter 0.1"])
    }

    @Test(arguments: StoreKind.allCases)
    func `the cascade of an object that another context deleted stays deleted`(kind: StoreKind) throws {
        let scene = try Scene(kind, .mergeByPropertyStoreTrump)
        let outside = ManagedObjectContext(coordinator: try scene.store.anotherCoordinator())
        let book = try outside.one("Book", where: scene.store.model.path("Book", "name") == "book 1")
        outside.delete(book)
        try outside.one("Book", where: scene.store.model.path("Book", "name") == "book 0")["pages"] = 5
        try outside.save()
        for book in scene.own { scene.context.delete(book) }
        try scene.context.save()
        let reader = scene.store.context()
        #expect(try reader.one("Book")["pages"] == 5)
        #expect(try reader.all("Chapter").count == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func `a policy that prefers the context deletes the whole cascade`(kind: StoreKind) throws {
        let scene = try Scene(kind, .mergeByPropertyObjectTrump)
        scene.theirs[0]["name"] = "theirs"
        try scene.other.save()
        scene.context.delete(scene.own[0])
        try scene.context.save()
        #expect(try scene.store.context().all("Chapter").count == 3)
    }
}
