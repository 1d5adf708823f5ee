import ObjectGraph
import Testing

@Suite struct IdentityTests {
    @Test(arguments: StoreKind.allCases)
    func `a context has one object for each row`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let writer = store.context()
        let book = writer.make("Book")
        book[one: "author"] = writer.make("Author")
        try writer.save()

        let context = store.context()
        let author = try context.one("Author")
        #expect(try context.one("Author") === author)
        #expect(try context.one("Book")[one: "author"] === author)
        #expect(try context.existingObject(with: author.managedObjectID) === author)
        #expect(context.object(with: author.managedObjectID) === author)
        #expect(author[many: "books"].first === (try context.one("Book")))
    }

    @Test(arguments: StoreKind.allCases)
    func `an object stays the same when it is saved`(kind: StoreKind) throws {
        let context = try TestStore(kind).context()
        let author = context.make("Author")
        try context.save()
        #expect(try context.one("Author") === author)
        #expect(context.registeredObject(for: author.managedObjectID) === author)
    }

    @Test(arguments: StoreKind.allCases)
    func `two contexts have different objects for a row`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author")
        try context.save()
        let reader = store.context()
        let other = try reader.one("Author")
        #expect(other !== author)
        #expect(other.managedObjectID == author.managedObjectID)
    }

    @Test(arguments: StoreKind.allCases)
    func `objects of different entities may have equal keys`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let writer = store.context()
        for number in 0..<10 {
            writer.make("Author", ["name": .text("author \(number)")])
            writer.make("Book", ["name": .text("book \(number)")])
        }
        try writer.save()
        let context = store.context()
        #expect(try context.all("Author").names == Set((0..<10).map { "author \($0)" }))
        #expect(try context.all("Book").names == Set((0..<10).map { "book \($0)" }))
    }
}
