import ObjectGraph
import Testing

@Suite struct ToManyTests {
    /// The place of the objects: in a context, outside any context, or inserted after the change.
    enum Place: CaseIterable, Sendable {
        case context, outside, saved
    }

    private static func objects(
        _ store: TestStore,
        _ place: Place,
        _ entities: String...
    ) throws -> (context: ManagedObjectContext, objects: [ManagedObject]) {
        let context = store.context()
        let objects = entities.enumerated().map { number, entity in
            ManagedObject.make(store.model, entity, ["name": .text("\(entity) \(number)")])
        }
        if place != .outside { for object in objects { context.insert(object) } }
        if place == .saved { try context.save() }
        return (context, objects)
    }

    @Test(arguments: StoreKind.allCases, Place.allCases)
    func `setting a to-one relationship sets its inverse`(kind: StoreKind, place: Place) throws {
        let store = try TestStore(kind)
        let (context, objects) = try Self.objects(store, place, "Author", "Book", "Book")
        let (author, first, second) = (objects[0], objects[1], objects[2])
        first[one: "author"] = author
        second[one: "author"] = author
        #expect(author[many: "books"].names == ["Book 1", "Book 2"])
        first[one: "author"] = nil
        #expect(author[many: "books"].names == ["Book 2"])
        context.insert(author)
        context.insert(first)
        try context.save()
        let reader = store.context()
        #expect(try reader.one("Author")[many: "books"].names == ["Book 2"])
    }

    @Test(arguments: StoreKind.allCases, Place.allCases)
    func `setting a to-many relationship sets its inverse`(kind: StoreKind, place: Place) throws {
        let store = try TestStore(kind)
        let (context, objects) = try Self.objects(store, place, "Author", "Book", "Book", "Book")
        let author = objects[0]
        author[many: "books"] = Array(objects[1...2])
        #expect(objects[1][one: "author"] === author)
        author[many: "books"] = Array(objects[2...3])
        #expect(objects[1][one: "author"] == nil)
        #expect(objects[3][one: "author"] === author)
        #expect(author[many: "books"].names == ["Book 2", "Book 3"])
        for object in objects { context.insert(object) }
        try context.save()
        let reader = store.context()
        #expect(try reader.one("Author")[many: "books"].names == ["Book 2", "Book 3"])
    }

    @Test(arguments: StoreKind.allCases, Place.allCases)
    func `a member moves from one owner to another`(kind: StoreKind, place: Place) throws {
        let store = try TestStore(kind)
        let (context, objects) = try Self.objects(store, place, "Author", "Author", "Book", "Book")
        let (old, new) = (objects[0], objects[1])
        old[many: "books"] = [objects[2], objects[3]]
        for object in objects { context.insert(object) }
        if place == .saved { try context.save() }
        objects[2][one: "author"] = new
        #expect(old[many: "books"].names == ["Book 3"])
        #expect(new[many: "books"].names == ["Book 2"])
        new[many: "books"] = [objects[2], objects[3]]
        #expect(old[many: "books"].isEmpty)
        #expect(objects[3][one: "author"] === new)
        try context.save()
        let reader = store.context()
        #expect(try reader.counterpart(of: new)[many: "books"].names == ["Book 2", "Book 3"])
        #expect(try reader.counterpart(of: old)[many: "books"].isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `a member moves between owners that are not loaded`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (writer, objects) = try Self.objects(store, .context, "Author", "Author", "Book", "Book")
        objects[0][many: "books"] = [objects[2], objects[3]]
        try writer.save()

        let context = store.context()
        let book = try writer.counterpart(of: objects[2])
        let own = try context.counterpart(of: book)
        own[one: "author"] = try context.counterpart(of: objects[1])
        #expect(try context.counterpart(of: objects[0])[many: "books"].names == ["Book 3"])
        #expect(try context.counterpart(of: objects[1])[many: "books"].names == ["Book 2"])
        try context.save()
        let reader = store.context()
        #expect(try reader.counterpart(of: objects[1])[many: "books"].names == ["Book 2"])
    }

    @Test(arguments: StoreKind.allCases)
    func `two relationships between the same entities do not mix`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (context, objects) = try Self.objects(store, .context, "Author", "Author", "Book")
        let book = objects[2]
        book[one: "author"] = objects[0]
        book[one: "translator"] = objects[1]
        #expect(objects[0][many: "translations"].isEmpty)
        #expect(objects[1][many: "books"].isEmpty)
        try context.save()
        let reader = store.context()
        let found = try reader.one("Book")
        #expect(found[one: "author"]?["name"] == "Author 0")
        #expect(found[one: "translator"]?["name"] == "Author 1")
        #expect(try reader.counterpart(of: objects[1])[many: "translations"].count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `members have the same order at each read`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author")
        author[many: "books"] = (0..<50).map { context.make("Book", ["name": .text("\($0)")]) }
        try context.save()
        let names = (0..<50).map { "\($0)" }
        #expect(author[many: "books"].texts("name") == names)
        let reader = store.context()
        #expect(try reader.one("Author")[many: "books"].texts("name") == names)
        #expect(try reader.one("Author")[many: "books"].texts("name") == names)
    }

    @Test(arguments: StoreKind.allCases)
    func `an object set twice is one member`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (context, objects) = try Self.objects(store, .context, "Book", "Tag")
        objects[0][many: "tags"] = [objects[1], objects[1]]
        #expect(objects[0][many: "tags"].count == 1)
        try context.save()
        let reader = store.context()
        #expect(try reader.one("Tag")[many: "books"].count == 1)
    }

    @Test(arguments: StoreKind.allCases, Place.allCases)
    func `a many-to-many relationship is the same from both sides`(kind: StoreKind, place: Place) throws {
        let store = try TestStore(kind)
        let (context, objects) = try Self.objects(store, place, "Book", "Book", "Tag", "Tag")
        objects[0][many: "tags"] = [objects[2], objects[3]]
        objects[3][many: "books"] = [objects[0], objects[1]]
        #expect(objects[1][many: "tags"].names == ["Tag 3"])
        #expect(objects[2][many: "books"].names == ["Book 0"])
        for object in objects { context.insert(object) }
        try context.save()
        objects[3][many: "books"] = [objects[1]]
        #expect(objects[0][many: "tags"].names == ["Tag 2"])
        try context.save()
        let reader = store.context()
        #expect(try reader.counterpart(of: objects[0])[many: "tags"].names == ["Tag 2"])
        #expect(try reader.counterpart(of: objects[1])[many: "tags"].names == ["Tag 3"])
        #expect(try reader.counterpart(of: objects[3])[many: "books"].names == ["Book 1"])
    }

    @Test(arguments: StoreKind.allCases)
    func `unsaved members can be removed`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let book = context.make("Book")
        try context.save()
        let tag = context.make("Tag")
        book[many: "tags"] = [tag]
        context.delete(tag)
        #expect(book[many: "tags"].isEmpty)
        try context.save()
        #expect(book[many: "tags"].isEmpty)
        #expect(try store.context().count(context.request("Tag")) == 0)
    }
}
