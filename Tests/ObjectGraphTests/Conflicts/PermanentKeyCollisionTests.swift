import ObjectGraph
import Testing

@Suite("Collisions of new objects that have a permanent key before their save") struct PermanentKeyCollisionTests {
    /// The reason why a new object has a permanent key.
    enum Origin: CaseIterable, Sendable {
        /// The program obtained its identifier.
        case obtained
        /// A child context inserted it.
        case insertedByChild
        /// A child context read it.
        case readByChild
    }

    private static let model = Fixtures.model(
        EntityDescription(
            "Tag",
            attributes: [
                .init("label", .string, isOptional: false), .init("note", .string, isOptional: true),
                .init("rank", .int64, isOptional: true),
            ],
            relationships: [
                .init("parts", to: "Part", .many, inverse: "tag", deleteRule: .cascade),
                .init("books", to: "Book", .many, inverse: "tags"),
            ],
            uniquenessConstraints: [["label"]]
        ),
        EntityDescription(
            "Part",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("tag", to: "Tag", .one, inverse: "parts", isOptional: false)]
        ),
        EntityDescription(
            "Book",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [
                .init("main", to: "Tag", .one), .init("tags", to: "Tag", .many, inverse: "books"),
            ]
        )
    )

    private static let cases = StoreKind.allCases.flatMap { kind in Origin.allCases.map { (kind, $0) } }

    /// A saved tag to which a book refers, and a context with a new tag of the same label, which has two parts.
    private struct Scene {
        let store: TestStore
        let context: ManagedObjectContext
        let saved: ManagedObject
        let new: ManagedObject

        init(_ place: (kind: StoreKind, origin: Origin), _ policy: MergePolicy) throws {
            store = try TestStore(place.kind, model)
            context = store.context()
            context.mergePolicy = policy
            saved = context.make("Tag", ["label": "a", "note": "saved"])
            let book = context.make("Book", ["name": "b"])
            book[one: "main"] = saved
            book[many: "tags"] = [saved]
            try context.save()
            let child = ManagedObjectContext(parent: context)
            let inserting = place.origin == .insertedByChild ? child : context
            let tag = inserting.make("Tag", ["label": "a", "rank": 1])
            let parts = ["x", "y"].map { inserting.make("Part", ["name": .text($0)]) }
            tag[many: "parts"] = parts
            switch place.origin {
            case .obtained: try context.obtainPermanentIDs(for: [tag] + parts)
            case .insertedByChild: try child.save()
            case .readByChild: _ = try child.all("Tag")
            }
            new = try context.counterpart(of: tag)
            try #require(new.isInserted && !new.managedObjectID.isTemporary)
        }

        /// Checks that the store has one tag, which is the saved one, and returns it.
        func result(in context: ManagedObjectContext) throws -> ManagedObject {
            let tag = try context.one("Tag")
            #expect(tag.managedObjectID == saved.managedObjectID)
            #expect(tag["label"] == "a")
            let book = try context.one("Book")
            #expect(book[one: "main"] === tag)
            #expect(book[many: "tags"] === [tag])
            #expect(try store.problems() == [])
            return tag
        }
    }

    @Test(arguments: cases)
    func `the object-trump policy updates the saved object`(place: (kind: StoreKind, origin: Origin)) throws {
        let scene = try Scene(place, .mergeByPropertyObjectTrump)
        try scene.context.save()
        #expect(scene.new.managedObjectID == scene.saved.managedObjectID)
        let context = scene.store.context()
        let tag = try scene.result(in: context)
        #expect(tag["note"] == "saved")
        #expect(tag["rank"] == 1)
        #expect(tag[many: "parts"].names == ["x", "y"])
    }

    @Test(arguments: cases)
    func `the store-trump policy keeps the stored values`(place: (kind: StoreKind, origin: Origin)) throws {
        let scene = try Scene(place, .mergeByPropertyStoreTrump)
        try scene.context.save()
        let context = scene.store.context()
        let tag = try scene.result(in: context)
        #expect(tag["note"] == "saved")
        #expect(tag["rank"] == .null)
        #expect(tag[many: "parts"].names == ["x", "y"])
    }

    @Test(arguments: cases)
    func `the overwrite policy replaces all values`(place: (kind: StoreKind, origin: Origin)) throws {
        let scene = try Scene(place, .overwrite)
        try scene.context.save()
        let context = scene.store.context()
        let tag = try scene.result(in: context)
        #expect(tag["note"] == .null)
        #expect(tag["rank"] == 1)
    }

    @Test(arguments: cases)
    func `the rollback policy drops the new object and its cascade`(place: (kind: StoreKind, origin: Origin)) throws {
        let scene = try Scene(place, .rollback)
        try scene.context.save()
        #expect(scene.new.isObjectDeleted)
        #expect(!scene.context.hasChanges)
        let context = scene.store.context()
        #expect(try scene.result(in: context)["note"] == "saved")
        #expect(try context.all("Part").isEmpty)
    }

    @Test(arguments: cases)
    func `without a policy, the collision names the saved object`(place: (kind: StoreKind, origin: Origin)) throws {
        let scene = try Scene(place, .error)
        let error = #expect(throws: ObjectGraphError.self) { try scene.context.save() }
        guard case .notUnique(let conflicts)? = error else {
            Issue.record("the error is \(String(describing: error))")
            return
        }
        #expect(conflicts.map(\.databaseObject) == [scene.saved.managedObjectID])
        #expect(conflicts.map(\.conflictingObjects) == [[scene.new.managedObjectID]])
    }

    @Test(arguments: cases)
    func `two new objects become one`(place: (kind: StoreKind, origin: Origin)) throws {
        let store = try TestStore(place.kind, Self.model)
        let context = store.context()
        context.mergePolicy = .mergeByPropertyObjectTrump
        let child = ManagedObjectContext(parent: context)
        let inserting = place.origin == .insertedByChild ? child : context
        let tags = (1...2).map { inserting.make("Tag", ["label": "a", "rank": .integer($0)]) }
        let book = inserting.make("Book", ["name": "b"])
        book[one: "main"] = tags[1]
        switch place.origin {
        case .obtained: try context.obtainPermanentIDs(for: tags)
        case .insertedByChild: try child.save()
        case .readByChild: _ = try child.all("Tag")
        }
        try context.save()
        let reader = store.context()
        let tag = try reader.one("Tag")
        #expect(tag["rank"] == 2)
        #expect(try reader.one("Book")[one: "main"] === tag)
        #expect(try store.problems() == [])
    }
}
