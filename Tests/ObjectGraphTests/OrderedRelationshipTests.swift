import ObjectGraph
import Testing

@Suite struct OrderedRelationshipTests {
    private static func book(_ context: ManagedObjectContext, chapters: [String]) -> ManagedObject {
        let book = context.make("Book", ["name": "book"])
        book[many: "chapters"] = chapters.map { context.make("Chapter", ["name": .text($0)]) }
        return book
    }

    @Test(arguments: StoreKind.allCases)
    func `members keep the order in which they are set`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let book = Self.book(context, chapters: ["c", "a", "b"])
        #expect(book[many: "chapters"].texts("name") == ["c", "a", "b"])
        try context.save()
        #expect(book[many: "chapters"].texts("name") == ["c", "a", "b"])
        let reader = store.context()
        #expect(try reader.one("Book")[many: "chapters"].texts("name") == ["c", "a", "b"])
    }

    @Test(arguments: StoreKind.allCases)
    func `members can be reordered`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let book = Self.book(context, chapters: ["a", "b", "c"])
        try context.save()
        book[many: "chapters"].reverse()
        #expect(context.hasChanges)
        try context.save()
        let reader = store.context()
        let found = try reader.one("Book")
        #expect(found[many: "chapters"].texts("name") == ["c", "b", "a"])
        found[many: "chapters"].swapAt(0, 1)
        try reader.save()
        try store.reopen()
        let last = store.context()
        #expect(try last.one("Book")[many: "chapters"].texts("name") == ["b", "c", "a"])
    }

    @Test(arguments: StoreKind.allCases)
    func `members are inserted and removed in the middle`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let book = Self.book(context, chapters: ["a", "b", "d"])
        try context.save()
        book[many: "chapters"].insert(context.make("Chapter", ["name": "c"]), at: 2)
        context.delete(book[many: "chapters"][0])
        #expect(book[many: "chapters"].texts("name") == ["b", "c", "d"])
        try context.save()
        let reader = store.context()
        #expect(try reader.one("Book")[many: "chapters"].texts("name") == ["b", "c", "d"])
    }

    @Test(arguments: StoreKind.allCases)
    func `setting the inverse appends the member`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let writer = store.context()
        _ = Self.book(writer, chapters: ["b", "a"])
        try writer.save()
        let context = store.context()
        let book = try context.one("Book")
        context.make("Chapter", ["name": "new"])[one: "book"] = book
        #expect(book[many: "chapters"].texts("name") == ["b", "a", "new"])
        try context.save()
        let reader = store.context()
        #expect(try reader.one("Book")[many: "chapters"].texts("name") == ["b", "a", "new"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a many-to-many relationship is ordered on the side that is declared as ordered`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let books = ["a", "b", "c"].map { context.make("Book", ["name": .text($0)]) }
        let tag = context.make("Tag", ["name": "tag"])
        tag[many: "books"] = [books[2], books[0]]
        try context.save()
        books[1][many: "tags"] = [tag]
        #expect(tag[many: "books"].texts("name") == ["c", "a", "b"])
        try context.save()
        let reader = store.context()
        #expect(try reader.one("Tag")[many: "books"].texts("name") == ["c", "a", "b"])
    }
}
