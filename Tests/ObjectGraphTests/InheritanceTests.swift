import ObjectGraph
import Testing

@Suite struct InheritanceTests {
    private static func zoo(_ kind: StoreKind) throws -> (TestStore, ManagedObjectContext) {
        let store = try TestStore(kind, Fixtures.animals)
        let context = store.context()
        let keeper = context.make("Keeper", ["name": "keeper"])
        let nest = context.make("Nest", ["name": "nest"])
        let bird = context.make("Bird", ["name": "bird", "wingspan": 0.5])
        let penguin = context.make("Penguin", ["name": "penguin", "wingspan": 0.25, "dives": 7])
        let cat = context.make("Cat", ["name": "cat", "lives": 9])
        keeper[many: "animals"] = [bird, penguin, cat]
        nest[many: "birds"] = [bird, penguin]
        return (store, context)
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `objects are fetched with and without those of subentities`(kind: StoreKind, saved: Bool) throws {
        let (store, writer) = try Self.zoo(kind)
        if saved { try writer.save() }
        let context = saved ? store.context() : writer
        #expect(try context.all("Animal").names == ["bird", "penguin", "cat"])
        #expect(try context.all("Bird").names == ["bird", "penguin"])
        #expect(try context.all("Penguin").names == ["penguin"])
        var request = context.request("Bird")
        request.includesSubentities = false
        #expect(try context.fetch(request, as: ManagedObject.self).names == ["bird"])
        #expect(try context.count(request) == 1)
        request.entity = store.model.entitiesByName["Animal"]!
        #expect(try context.count(request) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `objects keep the entity and the values of their insertion`(kind: StoreKind) throws {
        let (store, writer) = try Self.zoo(kind)
        try writer.save()
        let context = store.context()
        let animals = try context.all("Animal")
        #expect(animals.map(\.managedObjectID.entity.name) == ["Bird", "Penguin", "Cat"])
        #expect(animals[1]["wingspan"] == 0.25)
        #expect(animals[1]["dives"] == 7)
        #expect(animals[2]["lives"] == 9)
    }

    @Test(arguments: StoreKind.allCases)
    func `a relationship to a superentity has destinations of the right entity`(kind: StoreKind) throws {
        let (store, writer) = try Self.zoo(kind)
        try writer.save()
        let context = store.context()
        let keeper = try context.one("Keeper")
        #expect(keeper[many: "animals"].map(\.managedObjectID.entity.name) == ["Bird", "Penguin", "Cat"])
        #expect(try context.one("Nest")[many: "birds"].texts("name") == ["bird", "penguin"])
        for animal in try context.all("Animal") { #expect(animal[one: "keeper"] === keeper) }
        let penguin = try context.one("Penguin")
        context.delete(penguin)
        try context.save()
        #expect(keeper[many: "animals"].names == ["bird", "cat"])
        #expect(try store.context().count(context.request("Animal")) == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `an identifier of a superentity identifies the same object`(kind: StoreKind) throws {
        let (store, writer) = try Self.zoo(kind)
        try writer.save()
        let id = try writer.one("Penguin").managedObjectID
        let general = ManagedObjectID(
            entity: store.model.entitiesByName["Animal"]!,
            storeUUID: id.storeUUID,
            key: id.key
        )
        #expect(general == id)
        let context = store.context()
        let found = try #require(context.object(with: general) as? ManagedObject)
        #expect(found.managedObjectID.entity.name == "Penguin")
        #expect(found["dives"] == 7)
        #expect(try context.existingObject(with: id) === found)
    }

    @Test(arguments: StoreKind.allCases)
    func `predicates test the entity and properties of subentities`(kind: StoreKind) throws {
        let (store, writer) = try Self.zoo(kind)
        let model = store.model
        let dives = model.path("Penguin", "dives")
        let isBird = QueryExpression.isKind(from: 0, [], of: model.entitiesByName["Bird"]!)
        for context in [writer, store.context()] {
            #expect(try context.all("Animal", where: isBird).names == ["bird", "penguin"])
            #expect(try context.all("Animal", where: .not(isBird)).names == ["cat"])
            #expect(try context.all("Animal", where: dives > 3).names == ["penguin"])
            #expect(try context.all("Animal", where: dives == .null).names == ["bird", "cat"])
            try writer.save()
        }
    }
}
