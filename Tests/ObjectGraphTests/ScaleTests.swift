import ObjectGraph
import Testing

/// Collections and chains that need a constant cost for each member.
@Suite struct ScaleTests {
    private static let count = 20_000

    @Test(arguments: StoreKind.allCases)
    func `a large collection is filled, moved and emptied member by member`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let authors = (0..<2).map { _ in context.make("Author") }
        let tag = context.make("Tag")
        let books = (0..<Self.count).map { number in
            let book = context.make("Book", ["pages": .integer(Int64(number))])
            book[one: "author"] = authors[0]
            book[many: "tags"] = [tag]
            return book
        }
        try context.save()
        #expect(authors[0][many: "books"].count == Self.count)
        for book in books { book[one: "author"] = authors[1] }
        #expect(authors[0][many: "books"].isEmpty)
        try context.save()
        for book in books.prefix(Self.count / 2) { context.delete(book) }
        #expect(authors[1][many: "books"].count == Self.count / 2)
        #expect(tag[many: "books"].count == Self.count / 2)
        try context.save()
        let reader = store.context()
        #expect(try reader.counterpart(of: authors[1])[many: "books"].count == Self.count / 2)
        #expect(try reader.one("Tag")[many: "books"].count == Self.count / 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `adding and removing single members does not read the other members`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author")
        let books = (0..<Self.count).map { _ in context.make("Book") }
        for book in books {
            author.addMember(book, forRelationship: "books")
            author.addMember(book, forRelationship: "readings")
        }
        try context.save()
        let other = store.context()
        let same = try other.counterpart(of: author)
        store.counter.reset()
        let new = other.make("Book")
        same.addMember(new, forRelationship: "books")
        #expect(store.counter.reads == 0)
        for book in same[many: "books"].prefix(Self.count / 2) {
            same.removeMember(book, forRelationship: "books")
            same.removeMember(book, forRelationship: "readings")
        }
        try other.save()
        let reader = store.context()
        let found = try reader.one("Author")
        #expect(found[many: "books"].count == Self.count / 2 + 1)
        #expect(found[many: "readings"].count == Self.count / 2)
    }

    @Test func `a large graph outside any context is inserted at once`() throws {
        let store = try TestStore(.reference)
        let author = ManagedObject.make(store.model, "Author")
        let books = (0..<Self.count).map { _ in ManagedObject.make(store.model, "Book") }
        for book in books { book[one: "author"] = author }
        #expect(author[many: "books"].count == Self.count)
        let context = store.context()
        context.insert(author)
        #expect(context.insertedObjects.count == Self.count + 1)
    }
}
