import ObjectGraph
import Testing

@Suite("Uniqueness constraints") struct UniquenessTests {
    /// Two constraints on a person, one of them of two properties, and relationships of every kind.
    private static let model = Fixtures.model(
        EntityDescription(
            "Person",
            attributes: [
                .init("email", .string, isOptional: true), .init("first", .string, isOptional: true),
                .init("last", .string, isOptional: true), .init("age", .int64, isOptional: true),
            ],
            relationships: [
                .init("team", to: "Team", .one, inverse: "people"),
                .init("notes", to: "Note", .many, inverse: "person", deleteRule: .cascade),
                .init("skills", to: "Skill", .many, inverse: "people"),
            ],
            uniquenessConstraints: [["email"], ["first", "last"]]
        ),
        EntityDescription(
            "Team",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [
                .init("people", to: "Person", .many, inverse: "team"), .init("leader", to: "Person", .one),
            ]
        ),
        EntityDescription(
            "Note",
            attributes: [.init("text", .string, isOptional: true)],
            relationships: [.init("person", to: "Person", .one, inverse: "notes", isOptional: false)]
        ),
        EntityDescription(
            "Skill",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("people", to: "Person", .many, inverse: "skills")],
            uniquenessConstraints: [["name"]]
        )
    )

    private static func store(_ kind: StoreKind, _ policy: MergePolicy) throws -> (TestStore, ManagedObjectContext) {
        let store = try TestStore(kind, model)
        let context = store.context()
        context.mergePolicy = policy
        return (store, context)
    }

    @Test(arguments: StoreKind.allCases)
    func `without a policy, all collisions are reported with their objects`(kind: StoreKind) throws {
        let (_, context) = try Self.store(kind, .error)
        let saved = context.make("Person", ["email": "a"])
        try context.save()
        let again = context.make("Person", ["email": "a"])
        let new = context.make("Person", ["first": "x", "last": "y"])
        let twin = context.make("Person", ["first": "x", "last": "y"])
        let error = #expect(throws: ObjectGraphError.self) { try context.save() }
        guard case .notUnique(let conflicts)? = error else {
            Issue.record("the error is \(String(describing: error))"); return
        }
        #expect(conflicts.map(\.properties) == [["email"], ["first", "last"]])
        #expect(conflicts.map(\.databaseObject) == [saved.managedObjectID, nil])
        #expect(
            conflicts.map(\.conflictingObjects) == [
                [again.managedObjectID], [new.managedObjectID, twin.managedObjectID],
            ]
        )
        #expect(context.insertedObjects.count == 3)
        again["email"] = "b"
        twin["last"] = "z"
        try context.save()
        #expect(try context.count(context.request("Person")) == 4)
    }

    @Test(arguments: StoreKind.allCases)
    func `missing values never collide`(kind: StoreKind) throws {
        let (_, context) = try Self.store(kind, .error)
        for _ in 0..<2 { context.make("Person", ["first": "x"]) }
        try context.save()
        #expect(try context.count(context.request("Person")) == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `a new object becomes an update of the saved one`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, .mergeByPropertyObjectTrump)
        let saved = context.make("Person", ["email": "a", "age": 1, "first": "kept"])
        try context.save()
        let id = saved.managedObjectID
        let second = store.context()
        second.mergePolicy = .mergeByPropertyObjectTrump
        let new = second.make("Person", ["email": "a", "age": 2])
        try second.save()
        #expect(new.managedObjectID == id)
        #expect(new["first"] == "kept")
        #expect(!new.isObjectDeleted)
        new["age"] = 3
        try second.save()
        let fresh = store.context()
        let found = try fresh.one("Person")
        #expect(found.managedObjectID == id)
        #expect(found["age"] == 3)
        #expect(found["first"] == "kept")
        _ = try context.count(context.request("Person"))
        #expect(saved["age"] == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func `a registered saved object stays, and the new one gets its identifier`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, .mergeByPropertyObjectTrump)
        let saved = context.make("Person", ["email": "a", "age": 1])
        try context.save()
        let new = context.make("Person", ["email": "a", "age": 2])
        try context.save()
        #expect(saved["age"] == 2)
        #expect(new["age"] == 2)
        #expect(new.managedObjectID == saved.managedObjectID)
        #expect(new.isObjectDeleted)
        #expect(!saved.isObjectDeleted)
        #expect(!context.hasChanges)
        #expect(try store.context().one("Person")["age"] == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `of several new objects the last one is saved`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, .mergeByPropertyObjectTrump)
        for age in 1...3 { context.make("Person", ["email": "a", "age": .integer(Int64(age))]) }
        try context.save()
        #expect(try store.context().one("Person")["age"] == 3)
        #expect(try context.one("Person")["age"] == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func `relationships of every kind move to the saved object`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, .mergeByPropertyObjectTrump)
        let saved = context.make("Person", ["email": "a"])
        saved[many: "notes"] = [context.make("Note", ["text": "old"])]
        saved[many: "skills"] = [context.make("Skill", ["name": "swim"])]
        saved[one: "team"] = context.make("Team", ["name": "old"])
        try context.save()

        let second = store.context()
        second.mergePolicy = .mergeByPropertyObjectTrump
        let new = second.make("Person", ["email": "a"])
        new[many: "notes"] = [second.make("Note", ["text": "new"])]
        new[many: "skills"] = [second.make("Skill", ["name": "swim"]), second.make("Skill", ["name": "run"])]
        let team = second.make("Team", ["name": "new"])
        new[one: "team"] = team
        team[one: "leader"] = new
        try second.save()

        let third = store.context()
        let found = try third.one("Person")
        #expect(found[many: "notes"].texts("text") == ["old", "new"])
        #expect(found[many: "skills"].names == ["swim", "run"])
        #expect(found[one: "team"]?["name"] == "new")
        #expect(try third.all("Team").map { $0[many: "people"].count } == [0, 1])
        #expect(try third.all("Team")[1][one: "leader"] === found)
        #expect(try third.all("Skill").map { $0[many: "people"].count } == [1, 1])
        #expect(try third.all("Note").allSatisfy { $0[one: "person"] === found })
    }

    @Test(arguments: StoreKind.allCases)
    func `under the store-trump policy a new object keeps its members and drops its values`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, .mergeByPropertyStoreTrump)
        context.make("Person", ["email": "a", "age": 1])
        try context.save()
        let new = context.make("Person", ["email": "a", "age": 2])
        new[many: "notes"] = [context.make("Note", ["text": "new"])]
        try context.save()
        let fresh = store.context()
        let found = try fresh.one("Person")
        #expect(found["age"] == 1)
        #expect(found[many: "notes"].count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `the overwrite policy clears values that the new object does not have`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, .overwrite)
        context.make("Person", ["email": "a", "age": 1])
        try context.save()
        context.make("Person", ["email": "a", "first": "x"])
        try context.save()
        let fresh = store.context()
        let found = try fresh.one("Person")
        #expect(found["age"] == .null)
        #expect(found["first"] == "x")
    }

    @Test(arguments: StoreKind.allCases)
    func `the rollback policy drops the new object of a collision`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, .rollback)
        context.make("Person", ["email": "a", "age": 1])
        try context.save()
        let new = context.make("Person", ["email": "a", "age": 2])
        context.make("Person", ["email": "b"])
        try context.save()
        #expect(new.isObjectDeleted)
        #expect(try store.context().all("Person").count == 2)
        #expect(try store.context().one("Person", where: Self.model.path("Person", "email") == "a")["age"] == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `dropping a new object does not delete saved ones`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, .rollback)
        let first = context.make("Person", ["email": "a"])
        let second = context.make("Person", ["email": "b"])
        let note = context.make("Note", ["text": "saved"])
        note[one: "person"] = second
        try context.save()
        let new = context.make("Person", ["email": "a"])
        note[one: "person"] = new
        let own = context.make("Note", ["text": "new"])
        own[one: "person"] = new
        try context.save()
        #expect(new.isObjectDeleted)
        #expect(own.isObjectDeleted)
        #expect(!note.isObjectDeleted)
        #expect(note[one: "person"] === second)
        #expect(first[many: "notes"].isEmpty)
        let fresh = store.context()
        #expect(try fresh.one("Note")[one: "person"]?["email"] == "b")
    }

    @Test(arguments: StoreKind.allCases)
    func `one object can collide with two others`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, .mergeByPropertyObjectTrump)
        let first = context.make("Person", ["email": "a"])
        first[many: "notes"] = [context.make("Note", ["text": "1"])]
        let second = context.make("Person", ["first": "x", "last": "y"])
        second[many: "notes"] = [context.make("Note", ["text": "2"])]
        try context.save()
        context.make("Person", ["email": "a", "first": "x", "last": "y"])
        try context.save()
        let fresh = store.context()
        let found = try fresh.one("Person")
        #expect(found["email"] == "a")
        #expect(found["last"] == "y")
        #expect(found[many: "notes"].texts("text") == ["1", "2"])
    }

    @Test(arguments: StoreKind.allCases)
    func `values can be swapped and passed on in one save`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, .error)
        let objects = ["a", "b", "c"].map { context.make("Person", ["email": .text($0)]) }
        try context.save()
        for (object, email) in zip(objects, ["b", "c", "a"]) { object["email"] = .text(email) }
        try context.save()
        #expect(try store.context().all("Person").texts("email") == ["b", "c", "a"])
        objects[0]["email"] = "z"
        context.make("Person", ["email": "b"])
        try context.save()
        #expect(try store.context().all("Person").texts("email") == ["z", "c", "a", "b"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a save that fails after a collision leaves the context unchanged`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, .mergeByPropertyObjectTrump)
        let saved = context.make("Person", ["email": "a", "age": 1])
        try context.save()
        let new = context.make("Person", ["email": "a", "age": 2])
        let note = context.make("Note", ["text": "new"])
        new[many: "notes"] = [note]
        let broken = context.make("Note", ["text": "unowned"])
        #expect(throws: ObjectGraphError.self) { try context.save() }
        #expect(saved["age"] == 1)
        #expect(!saved.isUpdated)
        #expect(new.isInserted)
        #expect(new[many: "notes"].map(ObjectIdentifier.init) == [ObjectIdentifier(note)])
        #expect(note[one: "person"] === new)
        broken[one: "person"] = new
        try context.save()
        let fresh = store.context()
        let found = try fresh.one("Person")
        #expect(found["age"] == 2)
        #expect(found[many: "notes"].count == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `a thousand collisions are resolved with a few statements`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, .mergeByPropertyObjectTrump)
        for number in 0..<1000 { context.make("Skill", ["name": .text("\(number)")]) }
        try context.save()
        let second = store.context()
        second.mergePolicy = .mergeByPropertyObjectTrump
        for number in 500..<1500 { second.make("Skill", ["name": .text("\(number)")]) }
        store.counter.reset()
        try second.save()
        #expect(store.counter.reads <= 20)
        #expect(store.counter[.save] == 2)
        #expect(try store.context().count(second.request("Skill")) == 1500)
    }
}
