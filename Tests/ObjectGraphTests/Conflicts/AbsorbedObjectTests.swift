import Foundation
import ObjectGraph
import Testing

@Suite("A new object that a merge policy makes an update of a saved one") struct AbsorbedObjectTests {
    private static let model = Fixtures.model(
        EntityDescription(
            "Person",
            attributes: [
                .init("email", .string, isOptional: true), .init("age", .int64, isOptional: true),
                .init("uuid", .uuid, isOptional: true), .init("balance", .decimal, isOptional: true),
            ],
            relationships: [
                .init("passport", to: "Passport", .one, inverse: "person"),
                .init("friends", to: "Person", .many, inverse: "friends"),
                .init("mentor", to: "Person", .one, inverse: "pupils"),
                .init("pupils", to: "Person", .many, inverse: "mentor"),
                .init("idol", to: "Person", .one),
            ],
            uniquenessConstraints: [["email"], ["uuid", "balance"]]
        ),
        EntityDescription(
            "Passport",
            attributes: [.init("number", .string, isOptional: true)],
            relationships: [.init("person", to: "Person", .one, inverse: "passport")]
        )
    )

    /// The subentities have attributes of different types in the same slot.
    private static let animals = Fixtures.model(
        EntityDescription(
            "Animal",
            attributes: [.init("name", .string, isOptional: true)],
            uniquenessConstraints: [["name"]]
        ),
        EntityDescription(
            "Bird",
            superentity: "Animal",
            attributes: [.init("ring", .string, isOptional: true)],
            uniquenessConstraints: [["ring"]]
        ),
        EntityDescription(
            "Cat",
            superentity: "Animal",
            attributes: [.init("lives", .int64, isOptional: true), .init("toy", .string, isOptional: true)]
        )
    )

    private static func store(
        _ kind: StoreKind,
        _ model: ManagedObjectModel
    ) throws -> (TestStore, ManagedObjectContext) {
        let store = try TestStore(kind, model)
        let context = store.context()
        context.mergePolicy = .mergeByPropertyObjectTrump
        return (store, context)
    }

    @Test(arguments: StoreKind.allCases)
    func `it becomes the saved object if both have the same values`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, Self.model)
        _ = context.make("Person", ["email": "a", "age": 1])
        try context.save()
        let second = store.context()
        second.mergePolicy = .mergeByPropertyObjectTrump
        let new = second.make("Person", ["email": "a", "age": 1])
        try second.save()
        #expect(!new.isObjectDeleted)
        new["age"] = 2
        try second.save()
        #expect(try store.context().one("Person")["age"] == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `it becomes the saved object after that was changed and released`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, Self.model)
        _ = context.make("Person", ["email": "a", "age": 1])
        try context.save()
        let second = store.context()
        second.mergePolicy = .mergeByPropertyObjectTrump
        try second.one("Person")["age"] = 5
        let new = second.make("Person", ["email": "a"])
        try second.save()
        #expect(!new.isObjectDeleted)
        new["age"] = 6
        try second.save()
        #expect(try store.context().one("Person")["age"] == 6)
    }

    @Test(arguments: StoreKind.allCases)
    func `it is registered once, and freed with the last reference`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, Self.model)
        _ = context.make("Person", ["email": "a"])
        try context.save()
        let second = store.context()
        second.mergePolicy = .mergeByPropertyObjectTrump
        weak var weakNew: ManagedObject?
        try {
            let new = second.make("Person", ["email": "a", "age": 2])
            weakNew = new
            try second.save()
            #expect(second.registeredObjects.count == 1)
        }()
        #expect(second.registeredObjects.isEmpty)
        #expect(weakNew == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `texts that are equal in Swift collide in every normalization form`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, Self.model)
        context.make("Person", ["email": "b"])
        try context.save()
        context.make("Person", ["email": "e\u{301}", "age": 1])
        context.make("Person", ["email": "\u{e9}", "age": 2])
        context.make("Person", ["email": "b", "age": 3])
        try context.save()
        #expect(try store.context().count(context.request("Person")) == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `identifiers and decimal numbers are compared as a store does`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, Self.model)
        let uuid = UUID()
        let values: [String: Value] = [
            "uuid": .uuid(uuid), "balance": Decimal(string: "1.50")!.storedValue,
        ]
        context.make("Person", values.merging(["age": 1]) { $1 })
        try context.save()
        let second = store.context()
        second.mergePolicy = .mergeByPropertyObjectTrump
        second.make("Person", values.merging(["age": 2]) { $1 })
        second.make("Person", values.merging(["age": 3]) { $1 })
        second.make("Person", values.merging(["balance": Decimal(2).storedValue]) { $1 })
        try second.save()
        #expect(try store.context().all("Person").map { $0["age"] } == [3, .null])
    }

    @Test(arguments: StoreKind.allCases)
    func `a one-to-one relationship moves`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, Self.model)
        context.make("Person", ["email": "a"])[one: "passport"] = context.make("Passport", ["number": "1"])
        try context.save()
        let second = store.context()
        second.mergePolicy = .mergeByPropertyObjectTrump
        let passport = second.make("Passport", ["number": "2"])
        second.make("Person", ["email": "a"])[one: "passport"] = passport
        try second.save()
        #expect(passport[one: "person"]?["email"] == "a")
        let fresh = store.context()
        #expect(try fresh.one("Person")[one: "passport"]?["number"] == "2")
        #expect(try fresh.all("Passport").filter { $0[one: "person"] != nil }.texts("number") == ["2"])
    }

    @Test(arguments: StoreKind.allCases)
    func `relationships with itself become relationships of the saved object`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, Self.model)
        context.make("Person", ["email": "a"])
        try context.save()
        let second = store.context()
        second.mergePolicy = .mergeByPropertyObjectTrump
        let new = second.make("Person", ["email": "a"])
        let other = second.make("Person", ["email": "b"])
        new[one: "idol"] = new
        other[one: "idol"] = new
        new[one: "mentor"] = new
        new[many: "friends"] = [new, other]
        new[many: "pupils"].append(other)
        try second.save()
        let fresh = store.context()
        let people = try fresh.all("Person")
        #expect(people.texts("email") == ["a", "b"])
        #expect(people.map { $0[one: "idol"]?.text("email") } == ["a", "a"])
        #expect(people.map { $0[one: "mentor"]?.text("email") } == ["a", "a"])
        #expect(Set(people[0][many: "friends"].texts("email")) == ["a", "b"])
        #expect(people[1][many: "friends"].texts("email") == ["a"])
        #expect(Set(people[0][many: "pupils"].texts("email")) == ["a", "b"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a constraint of a subentity does not apply to its siblings`(kind: StoreKind) throws {
        let (store, context) = try Self.store(kind, Self.animals)
        context.make("Bird", ["ring": "r", "name": "1"])
        try context.save()
        context.make("Cat", ["toy": "r", "name": "2"])
        context.make("Bird", ["ring": "r", "name": "3"])
        try context.save()
        #expect(try store.context().all("Animal").texts("name") == ["3", "2"])
    }
}
