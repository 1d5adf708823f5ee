import ObjectGraph
import Testing

/// The cost of making new objects updates of saved ones, and the references to the new objects.
@Suite("Upserts of many objects") struct UpsertTests {
    private static let model = Fixtures.model(
        EntityDescription(
            "Person",
            attributes: [.init("email", .string, isOptional: true)],
            relationships: [
                .init("notes", to: "Note", .many, inverse: "person"),
                .init("skills", to: "Skill", .many, inverse: "people"),
                .init("idol", to: "Person", .one),
            ],
            uniquenessConstraints: [["email"]]
        ),
        EntityDescription(
            "Note",
            attributes: [.init("text", .string, isOptional: true)],
            relationships: [.init("person", to: "Person", .one, inverse: "notes")]
        ),
        EntityDescription(
            "Skill",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("people", to: "Person", .many, inverse: "skills")],
            uniquenessConstraints: [["name"]]
        ),
        EntityDescription(
            "Team",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("leader", to: "Person", .one), .init("guests", to: "Person", .many)],
            uniquenessConstraints: [["name"]]
        ),
        EntityDescription(
            "Yard",
            relationships: [
                .init("leading", to: "Plant", .many, sharedInverse: "yard"),
                .init("trailing", to: "Plant", .many, sharedInverse: "yard"),
                .init("oldest", to: "Plant", .one, sharedInverse: "yard"),
            ]
        ),
        EntityDescription(
            "Plant",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("yard", to: "Yard", .one)],
            uniquenessConstraints: [["name"]]
        )
    )

    private static func context(of store: TestStore) -> ManagedObjectContext {
        let context = store.context()
        context.mergePolicy = .mergeByPropertyObjectTrump
        return context
    }

    @Test(arguments: StoreKind.allCases)
    func `the members of the saved object are not read`(kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let writer = store.context()
        let saved = writer.make("Person", ["email": "a"])
        for number in 0..<100 {
            saved.addMember(writer.make("Note"), forRelationship: "notes")
            saved.addMember(writer.make("Skill", ["name": .text("\(number)")]), forRelationship: "skills")
        }
        try writer.save()
        let context = Self.context(of: store)
        let new = context.make("Person", ["email": "a"])
        new[many: "notes"] = [context.make("Note", ["text": "new"])]
        // The saved person has the skill 7.
        new[many: "skills"] = ["7", "new"].map { context.make("Skill", ["name": .text($0)]) }
        store.counter.reset()
        try context.save()
        #expect(store.counter[.members] == 0)
        let fresh = store.context()
        let found = try fresh.one("Person")
        #expect(found[many: "notes"].count == 101)
        #expect(found[many: "skills"].count == 101)
        #expect(try fresh.all("Skill").allSatisfy { $0[many: "people"] === [found] })
        #expect(try store.problems() == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `one-way references to several new objects become references to the saved one`(kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let writer = store.context()
        writer.make("Person", ["email": "a"])
        writer.make("Team", ["name": "saved"])
        try writer.save()
        let context = Self.context(of: store)
        // Merged with each other first, and then with the saved one.
        let new = (0..<3).map { _ in context.make("Person", ["email": "a"]) }
        let other = context.make("Person", ["email": "b"])
        let teams = [try context.one("Team"), context.make("Team", ["name": "new"])]
        for (team, leader) in zip(teams, [new[2], new[1]]) {
            team[one: "leader"] = leader
            team[many: "guests"] = [new[2], other, new[0]]
        }
        try context.save()
        let fresh = store.context()
        #expect(try fresh.count(fresh.request("Person")) == 2)
        for team in try fresh.all("Team") {
            #expect(team[one: "leader"]?["email"] == "a", "the leader of \(team["name"])")
            #expect(team[many: "guests"].texts("email").sorted() == ["a", "b"], "the guests of \(team["name"])")
        }
        #expect(try store.problems() == [])
    }

    @Test(arguments: StoreKind.allCases, [["a", "b"], ["b", "a"]])
    func `a reference between two new objects becomes one between the saved ones`(
        kind: StoreKind,
        order: [String]
    ) throws {
        let store = try TestStore(kind, Self.model)
        let writer = store.context()
        for email in order { writer.make("Person", ["email": .text(email)]) }
        try writer.save()
        let context = Self.context(of: store)
        let admirer = context.make("Person", ["email": "a"])
        admirer[one: "idol"] = context.make("Person", ["email": "b"])
        try context.save()
        let fresh = store.context()
        let email = Self.model.path("Person", "email")
        let idol = try fresh.one("Person", where: email == "b")
        #expect(try fresh.one("Person", where: email == "a")[one: "idol"] === idol)
        #expect(try store.problems() == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `an upserted team leads to the saved person of its new leader`(kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let writer = store.context()
        writer.make("Person", ["email": "a"])
        writer.make("Team", ["name": "x"])
        try writer.save()
        let context = Self.context(of: store)
        let (leader, team) = (context.make("Person", ["email": "a"]), context.make("Team", ["name": "x"]))
        team[one: "leader"] = leader
        team[many: "guests"] = [leader]
        try context.save()
        let fresh = store.context()
        let person = try fresh.one("Person")
        #expect(try fresh.one("Team")[one: "leader"] === person)
        #expect(try fresh.one("Team")[many: "guests"] === [person])
    }

    @Test(arguments: StoreKind.allCases)
    func `a new object passes its memberships in relationships with a shared inverse on`(kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let writer = store.context()
        writer.make("Plant", ["name": "x"])
        writer.make("Plant", ["name": "y"])
        try writer.save()
        let context = Self.context(of: store)
        let yard = context.make("Yard")
        yard[many: "trailing"] = [context.make("Plant", ["name": "x"])]
        yard[one: "oldest"] = context.make("Plant", ["name": "y"])
        try context.save()
        let fresh = store.context()
        let found = try fresh.one("Yard")
        #expect(found[many: "leading"].isEmpty)
        #expect(found[many: "trailing"].texts("name") == ["x"])
        #expect(found[one: "oldest"]?["name"] == "y")
        #expect(try fresh.all("Plant").allSatisfy { $0[one: "yard"] === found })
        #expect(try store.problems() == [])
    }

    /// Each merge that looked at all changed objects would need a hundred million steps.
    @Test func `thousands of upserts with one-way references need few steps each`() throws {
        let store = try TestStore(.sealed, Self.model)
        let count = 5000
        let writer = store.context()
        for number in 0..<count { writer.make("Person", ["email": .text("\(number)")]) }
        try writer.save()
        let context = Self.context(of: store)
        for number in 0..<count {
            let leader = context.make("Person", ["email": .text("\(number)")])
            context.make("Team", ["name": .text("\(number)")])[one: "leader"] = leader
        }
        try context.save()
        let fresh = store.context()
        #expect(try fresh.count(fresh.request("Person")) == count)
        let teams = try fresh.all("Team")
        #expect(teams.count == count)
        #expect(teams.allSatisfy { $0[one: "leader"]?["email"] == $0["name"] })
    }
}
