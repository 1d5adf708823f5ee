import ObjectGraph
import Testing

@Suite struct PendingChangesTests {
    /// A context with ten saved authors, born 0 to 9, some of which are updated or deleted, and inserted ones.
    private static func context(_ kind: StoreKind) throws -> (TestStore, ManagedObjectContext) {
        let store = try TestStore(kind)
        let context = store.context()
        let authors = (0..<10).map { context.make("Author", ["name": .text("\($0)"), "born": .integer(Int64($0))]) }
        try context.save()
        context.delete(authors[1])
        authors[2]["born"] = 20
        authors[8]["born"] = .integer(-1)
        context.make("Author", ["name": "new", "born": 4])
        return (store, context)
    }

    @Test(arguments: StoreKind.allCases)
    func `inserted, updated and deleted objects have their places in the results`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        defer { _ = store }
        let born = store.model.path("Author", "born")
        #expect(
            try context.all("Author", sortedBy: [QuerySort(born)]).texts("name") == [
                "8", "0", "3", "4", "new", "5", "6", "7", "9", "2",
            ]
        )
        #expect(
            try context.all("Author", where: born > 3, sortedBy: [QuerySort(born, ascending: false)]).texts("name") == [
                "2", "9", "7", "6", "5", "4", "new",
            ]
        )
        #expect(try context.all("Author").texts("name") == ["0", "2", "3", "4", "5", "6", "7", "8", "9", "new"])
    }

    @Test(arguments: StoreKind.allCases)
    func `the kind of a destination is that of an object which is not saved yet`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let (author, book, chapter) = (context.make("Author"), context.make("Book"), context.make("Chapter"))
        chapter[one: "book"] = book
        try context.save()
        book[one: "author"] = author
        let path = store.model.properties("Chapter", ["book", "author"])
        let isByAuthor = QueryExpression.isKind(from: 0, path, of: author.managedObjectID.entity)
        #expect(try context.all("Chapter", where: isByAuthor).count == 1)
        #expect(try context.count(context.request("Chapter", where: isByAuthor)) == 1)
        try context.save()
        book[one: "author"] = nil
        #expect(try context.all("Chapter", where: isByAuthor).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `limit and offset apply to the results with pending changes`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        let born = store.model.path("Author", "born")
        let all = ["8", "0", "3", "4", "new", "5", "6", "7", "9", "2"]
        for offset in 0...11 {
            for limit in [nil, 0, 1, 3, 20, Int.max] as [Int?] {
                var request = context.request("Author", sortedBy: [QuerySort(born)])
                request.offset = offset
                request.limit = limit
                let expected = Array(all.dropFirst(offset).prefix(limit ?? .max))
                let found: [ManagedObject] = try context.fetch(request)
                #expect(found.texts("name") == expected, "offset \(offset), limit \(String(describing: limit))")
                #expect(
                    try context.count(request) == expected.count,
                    "the count at offset \(offset), limit \(String(describing: limit))"
                )
                #expect(try context.fetchIDs(request) == found.map(\.managedObjectID))
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `limit and offset apply to the results without pending changes`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        try context.save()
        for offset in 0...11 {
            for limit in [nil, 0, 1, 3, 20] as [Int?] {
                var request = context.request("Author", sortedBy: [QuerySort(store.model.path("Author", "born"))])
                request.offset = offset
                request.limit = limit
                let expected = Array(
                    ["8", "0", "3", "4", "new", "5", "6", "7", "9", "2"].dropFirst(offset).prefix(limit ?? .max)
                )
                let found: [ManagedObject] = try context.fetch(request)
                #expect(found.texts("name") == expected, "offset \(offset), limit \(String(describing: limit))")
                #expect(try context.count(request) == expected.count)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a fetch can exclude pending changes`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        var request = context.request("Author", where: store.model.path("Author", "born") < 3)
        request.includesPendingChanges = false
        #expect(try context.fetch(request, as: ManagedObject.self).texts("name") == ["0", "1", "2"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a predicate across a relationship includes pending changes of the destination`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "old"])
        let book = context.make("Book", ["name": "book"])
        book[one: "author"] = author
        try context.save()
        author["name"] = "new"
        let name = store.model.path("Book", "author", "name")
        #expect(try context.all("Book", where: name == "new").count == 1)
        #expect(try context.all("Book", where: name == "old").isEmpty)
        context.delete(author)
        #expect(try context.all("Book", where: name == .null).count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `a child that is fetched between insert and save keeps its parent`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "parent"])
        context.make("Book", ["name": "child"])[one: "author"] = author
        #expect(try context.one("Book")[one: "author"] === author)
        var request = context.request("Book")
        request.includesPendingChanges = false
        #expect(try context.fetch(request, as: ManagedObject.self).isEmpty)
        try context.save()
        let reader = store.context()
        #expect(try reader.one("Book")[one: "author"]?["name"] == "parent")
    }
}
