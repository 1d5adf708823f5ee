import ObjectGraph
import Testing

@Suite struct NameTests {
    static let names = [
        "select", "table", "SELECT", "_id", "_entity", "_version", "_ID", "rowid", "a b", "ä", "Ä", "日本語", "名前", "x'y",
        "x\"y",
        "x`y", "x]y", "a.b", "a/b", "a%b", "a;b", "--", "?", "?1", ":a", "1", "-1", "sqlite_master", "naïve",
        "nai\u{308}ve2", "👩‍👩‍👧",
        "description", "self", "Name", "name", "NAME", String(repeating: "long", count: 75),
        String(repeating: "long", count: 75) + "er",
    ]

    @Test(arguments: StoreKind.allCases)
    func `properties may have any name`(kind: StoreKind) throws {
        let model = Fixtures.model(
            EntityDescription("Odd", attributes: Self.names.map { .init($0, .string, isOptional: true) })
        )
        let store = try TestStore(kind, model)
        let context = store.context()
        let odd = context.make("Odd")
        for name in Self.names { odd[name] = .text("<\(name)>") }
        try context.save()
        try store.reopen()
        let reader = store.context()
        let found = try reader.one("Odd")
        for name in Self.names {
            #expect(found[name] == .text("<\(name)>"), "\(name)")
            #expect(
                try reader.count(reader.request("Odd", where: model.path("Odd", name) == .text("<\(name)>"))) == 1,
                "\(name)"
            )
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `entities and relationships may have any name, also equal ones`(kind: StoreKind) throws {
        let entities = Self.names.enumerated().map { number, name in
            EntityDescription(
                name,
                attributes: [.init("value", .int64, isOptional: true)],
                relationships: [
                    .init(name, to: name, .many), .init("shared", to: name, .many, inverse: "back"),
                    .init("back", to: name, .many, inverse: "shared"), .init("one", to: name, .one, inverse: "many"),
                    .init("many", to: name, .many, inverse: "one"),
                ]
            )
        }
        let model = try ManagedObjectModel(entities: entities)
        let store = try TestStore(kind, model)
        let context = store.context()
        var ids: [ManagedObjectID] = []
        for (number, name) in Self.names.enumerated() {
            let object = context.make(name, ["value": .integer(Int64(number))])
            object[many: name] = [object]
            object[many: "shared"] = [object, context.make(name)]
            object[one: "one"] = object
            try context.save()
            ids.append(object.managedObjectID)
        }
        try store.reopen()
        let reader = store.context()
        for (number, name) in Self.names.enumerated() {
            let uri = ids[number].uriRepresentation
            let id = try store.coordinator.managedObjectID(forURIRepresentation: uri)
            #expect(id == ids[number], "\(uri)")
            let object = try #require(try reader.existingObject(with: id) as? ManagedObject, "\(name)")
            #expect(object["value"] == .integer(Int64(number)), "\(name)")
            #expect(object[many: name].count == 1, "\(name)")
            #expect(object[many: "shared"].count == 2, "\(name)")
            #expect(object[many: "many"].first === object, "\(name)")
            #expect(try reader.all(name).count == 2, "\(name)")
        }
    }
}
