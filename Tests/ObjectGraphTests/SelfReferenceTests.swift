import ObjectGraph
import Testing

@Suite struct SelfReferenceTests {
    private static func people(_ store: TestStore, _ count: Int) -> (ManagedObjectContext, [ManagedObject]) {
        let context = store.context()
        return (context, (0..<count).map { context.make("Person", ["name": .text("\($0)")]) })
    }

    @Test(arguments: StoreKind.allCases)
    func `a tree of one entity`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.people)
        let (context, people) = Self.people(store, 4)
        people[0][many: "pupils"] = [people[1], people[2]]
        people[3][one: "mentor"] = people[2]
        try context.save()
        let reader = store.context()
        let root = try reader.counterpart(of: people[0])
        #expect(root[many: "pupils"].names == ["1", "2"])
        #expect(root[one: "mentor"] == nil)
        #expect(root[many: "pupils"][1][many: "pupils"].names == ["3"])
    }

    @Test(arguments: StoreKind.allCases)
    func `an object may refer to itself`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.people)
        let (context, people) = Self.people(store, 1)
        let person = people[0]
        person[one: "mentor"] = person
        person[one: "spouse"] = person
        person[many: "friends"] = [person]
        #expect(person[many: "pupils"].names == ["0"])
        try context.save()
        let reader = store.context()
        let found = try reader.one("Person")
        #expect(found[one: "mentor"] === found)
        #expect(found[one: "spouse"] === found)
        #expect(found[many: "friends"].names == ["0"])
        reader.delete(found)
        try reader.save()
        #expect(try reader.count(reader.request("Person")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `a relationship may be its own inverse`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.people)
        let (context, people) = Self.people(store, 4)
        people[0][one: "spouse"] = people[1]
        #expect(people[1][one: "spouse"] === people[0])
        people[2][one: "spouse"] = people[1]
        #expect(people[0][one: "spouse"] == nil)
        people[0][many: "friends"] = [people[1], people[2]]
        #expect(people[1][many: "friends"].names == ["0"])
        people[2][many: "friends"] = [people[3]]
        #expect(people[0][many: "friends"].names == ["1"])
        try context.save()
        let reader = store.context()
        let found = try people.map { try reader.counterpart(of: $0) }
        #expect(found.map { $0[one: "spouse"]?.text("name") } == [nil, "2", "1", nil])
        #expect(found.map { $0[many: "friends"].names } == [["1"], ["0"], ["3"], ["2"]])
        found[0][many: "friends"] = []
        try reader.save()
        #expect(try store.context().count(reader.request("Person")) == 4)
        #expect(
            people.map { (try? context.count(context.request("Person"))) != nil ? $0[many: "friends"].names : [] } == [
                [], [], ["3"], ["2"],
            ]
        )
    }

    @Test(arguments: StoreKind.allCases)
    func `a many-to-many relationship within one entity has two different ends`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.people)
        let (context, people) = Self.people(store, 4)
        people[0][many: "parents"] = [people[1], people[2]]
        people[3][many: "children"] = [people[0]]
        try context.save()
        let reader = store.context()
        #expect(try reader.counterpart(of: people[0])[many: "parents"].names == ["1", "2", "3"])
        #expect(try reader.counterpart(of: people[0])[many: "children"].isEmpty)
        #expect(try reader.counterpart(of: people[3])[many: "children"].names == ["0"])
    }
}
