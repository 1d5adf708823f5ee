import ObjectGraph
import Testing

@Suite("Objects that another context changed, by merge policy") struct MergePolicyTests {
    /// An author that two contexts registered.
    private struct Scene {
        let store: TestStore
        let other: ManagedObjectContext
        let others: ManagedObject
        let context: ManagedObjectContext
        let own: ManagedObject

        init(_ kind: StoreKind, _ policy: MergePolicy) throws {
            store = try TestStore(kind)
            other = store.context()
            others = other.make("Author", ["name": "old", "born": 1])
            try other.save()
            context = store.context()
            context.mergePolicy = policy
            own = try context.counterpart(of: others)
        }

        func saved() throws -> ManagedObject { try store.context().one("Author") }
    }

    @Test(arguments: StoreKind.allCases)
    func `the error holds the snapshots of both sides`(kind: StoreKind) throws {
        let scene = try Scene(kind, .error)
        scene.others["name"] = "theirs"
        try scene.other.save()
        scene.own["name"] = "mine"
        let error = #expect(throws: ObjectGraphError.self) { try scene.context.save() }
        guard case .conflicts(let conflicts)? = error, conflicts.count == 1 else {
            Issue.record("the error is \(String(describing: error))"); return
        }
        #expect(conflicts[0].objectSnapshot["name"] == "mine")
        #expect(conflicts[0].cachedSnapshot?["name"] == "old")
        #expect(conflicts[0].persistedSnapshot?["name"] == "theirs")
        #expect((conflicts[0].oldVersion, conflicts[0].newVersion) == (1, 2))
        #expect(!"\(error!)".contains("mine") && !"\(error!)".contains("theirs"))
    }

    @Test(
        arguments: StoreKind.allCases,
        [
            (MergePolicy.mergeByPropertyStoreTrump, "theirs", 2, 7),
            (.mergeByPropertyObjectTrump, "mine", 2, 7), (.overwrite, "mine", 2, 7), (.rollback, "theirs", 1, 7),
        ]
    )
    func `changes of the same and of different properties are merged`(
        kind: StoreKind,
        expected: (policy: MergePolicy, name: String, born: Int, books: Int)
    ) throws {
        let scene = try Scene(kind, expected.policy)
        scene.others["name"] = "theirs"
        try scene.other.save()
        scene.own["name"] = "mine"
        scene.own["born"] = 2
        try scene.context.save()
        #expect(!scene.context.hasChanges)
        for author in [scene.own, try scene.saved()] {
            #expect(author["name"] == .text(expected.name))
            #expect(author["born"] == .integer(Int64(expected.born)))
        }
        // The object can be changed and saved as before.
        scene.own["name"] = "again"
        try scene.context.save()
        #expect(try scene.saved()["name"] == "again")
    }

    @Test(arguments: StoreKind.allCases)
    func `overwriting writes properties that were not changed here`(kind: StoreKind) throws {
        let scene = try Scene(kind, .overwrite)
        scene.others["born"] = 2
        try scene.other.save()
        scene.own["name"] = "mine"
        try scene.context.save()
        #expect(try scene.saved()["born"] == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `the overwrite policy inserts an object that another context deleted`(kind: StoreKind) throws {
        let scene = try Scene(kind, .overwrite)
        let id = scene.own.managedObjectID
        scene.own["name"] = "mine"
        scene.other.delete(scene.others)
        try scene.other.save()
        try scene.context.save()
        let saved = try scene.saved()
        #expect(saved.managedObjectID == id)
        #expect(saved["name"] == "mine")
        #expect(saved["born"] == 1)
        scene.own["born"] = 5
        try scene.context.save()
        #expect(try scene.saved()["born"] == 5)
    }

    @Test(
        arguments: StoreKind.allCases,
        [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .rollback]
    )
    func `an object that another context deleted stays deleted`(kind: StoreKind, policy: MergePolicy) throws {
        let scene = try Scene(kind, policy)
        scene.own["name"] = "mine"
        scene.other.delete(scene.others)
        try scene.other.save()
        try scene.context.save()
        #expect(scene.own.isObjectDeleted)
        #expect(try scene.store.context().all("Author").isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `deleting an object that another context changed is saved or reverted`(kind: StoreKind) throws {
        for (policy, isDeleted) in [
            (MergePolicy.mergeByPropertyStoreTrump, false), (.rollback, false),
            (.mergeByPropertyObjectTrump, true), (.overwrite, true),
        ] {
            let scene = try Scene(kind, policy)
            // The context learns of the change only when it saves.
            let outsider = ManagedObjectContext(coordinator: try scene.store.anotherCoordinator())
            let theirs = try outsider.one("Author")
            theirs["name"] = "theirs"
            try outsider.save()
            scene.context.delete(scene.own)
            try scene.context.save()
            #expect(scene.own.isObjectDeleted == isDeleted, "\(policy)")
            #expect(try scene.store.context().all("Author").texts("name") == (isDeleted ? [] : ["theirs"]), "\(policy)")
            if !isDeleted { #expect(scene.own["name"] == "theirs", "\(policy)") }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `relationships are merged like attributes`(kind: StoreKind) throws {
        let scene = try Scene(kind, .mergeByPropertyStoreTrump)
        let book = scene.other.make("Book", ["name": "b"])
        book[one: "author"] = scene.others
        try scene.other.save()
        let own = try scene.context.counterpart(of: book)
        let elsewhere = scene.context.make("Author", ["name": "mine"])
        own[one: "author"] = elsewhere
        let third = scene.other.make("Author", ["name": "theirs"])
        book[one: "author"] = third
        try scene.other.save()
        try scene.context.save()
        #expect(own[one: "author"]?["name"] == "theirs")
        #expect(elsewhere[many: "books"].isEmpty)
        let fresh = scene.store.context()
        #expect(try fresh.one("Book")[one: "author"]?["name"] == "theirs")
    }

    @Test(arguments: StoreKind.allCases)
    func `a save that cannot be merged leaves the context unchanged`(kind: StoreKind) throws {
        let scene = try Scene(kind, .mergeByPropertyStoreTrump)
        scene.others["name"] = "theirs"
        try scene.other.save()
        scene.own["name"] = "mine"
        let chapter = scene.context.make("Chapter", ["name": "of no book"])
        #expect(throws: ObjectGraphError.self) { try scene.context.save() }
        #expect(scene.own["name"] == "mine")
        #expect(scene.own.isUpdated)
        scene.context.delete(chapter)
        try scene.context.save()
        #expect(scene.own["name"] == "theirs")
    }

    @Test(arguments: StoreKind.allCases, [MergePolicy.rollback, .mergeByPropertyStoreTrump])
    func `an object that gives up its changes has the members that the save has stored`(
        kind: StoreKind,
        policy: MergePolicy
    ) throws {
        let scene = try Scene(kind, policy)
        let old = scene.context.make("Book", ["name": "old"])
        old[one: "author"] = scene.own
        try scene.context.save()
        #expect(scene.own[many: "books"].names == ["old"])
        scene.others["born"] = 7
        scene.own["born"] = 8
        let new = scene.context.make("Book", ["name": "new"])
        new[one: "author"] = scene.own
        try scene.other.save()
        try scene.context.save()
        #expect(scene.own["born"] == 7)
        #expect(scene.own[many: "books"].names == ["old", "new"])
        let reader = scene.store.context()
        #expect(try reader.one("Author")[many: "books"].names == ["old", "new"])
    }
}
