import ObjectGraph
import Testing

@Suite struct PrefetchingTests {
    private static let count = 3_000

    /// Books with separate authors, common tags, and two chapters each.
    private static func store(_ kind: StoreKind, count: Int = count) throws -> TestStore {
        let store = try TestStore(kind)
        let context = store.context()
        let tags = (0..<10).map { context.make("Tag", ["name": .text("\($0)")]) }
        for number in 0..<count {
            let book = context.make("Book", ["name": .text("\(number)")])
            book[one: "author"] = context.make("Author", ["name": .text("\(number)")])
            book[many: "tags"] = [tags[number % 10]]
            book[many: "chapters"] = (0..<2).map { context.make("Chapter", ["name": .text("\(number).\($0)")]) }
        }
        try context.save()
        return store
    }

    private static func paths(_ store: TestStore, _ paths: [String]...) -> [[Relationship]] {
        paths.map { names in
            store.model.properties("Book", names).compactMap {
                if case .relationship(let relationship) = $0 { relationship } else { nil }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `walking prefetched relationships sends no request`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        var request = context.request("Book")
        request.relationshipKeyPathsForPrefetching = Self.paths(store, ["author"], ["tags"], ["chapters"])
        store.counter.reset()
        let books: [ManagedObject] = try context.fetch(request)
        #expect(store.counter[.fetch] == 1)
        #expect(store.counter[.values] + store.counter[.members] == 3)
        store.counter.reset()
        for (number, book) in books.enumerated() {
            #expect(book[one: "author"]?["name"] == .text("\(number)"))
            #expect(book[many: "tags"].texts("name") == ["\(number % 10)"])
            #expect(book[many: "chapters"].texts("name") == ["\(number).0", "\(number).1"])
        }
        #expect(store.counter.reads == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `paths have several steps, and common steps are loaded once`(kind: StoreKind) throws {
        let store = try Self.store(kind, count: 50)
        let context = store.context()
        var request = context.request("Book", where: store.model.path("Book", "name") == "7")
        request.relationshipKeyPathsForPrefetching = Self.paths(
            store,
            ["tags", "books", "author"],
            ["tags", "books", "chapters"],
            ["cover"]
        )
        store.counter.reset()
        let books: [ManagedObject] = try context.fetch(request)
        #expect(store.counter[.values] + store.counter[.members] == 4)
        store.counter.reset()
        let related = books[0][many: "tags"][0][many: "books"]
        #expect(related.texts("name") == ["7", "17", "27", "37", "47"])
        #expect(related.compactMap { $0[one: "author"] }.texts("name") == ["7", "17", "27", "37", "47"])
        #expect(related.allSatisfy { $0[many: "chapters"].count == 2 && $0[one: "cover"] == nil })
        #expect(store.counter.reads == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `prefetching keeps unsaved changes`(kind: StoreKind) throws {
        let store = try Self.store(kind, count: 3)
        let context = store.context()
        let books = try context.all("Book")
        let added = context.make("Chapter", ["name": "new"])
        books[0][many: "chapters"] = [added]
        books[1][one: "author"] = nil
        let author = context.make("Author", ["name": "new"])
        context.make("Book", ["name": "new"])[one: "author"] = author
        context.delete(books[2])
        var request = context.request("Book")
        request.relationshipKeyPathsForPrefetching = Self.paths(store, ["author", "books"], ["chapters"])
        let found: [ManagedObject] = try context.fetch(request)
        #expect(found.texts("name") == ["0", "1", "new"])
        #expect(found[0][many: "chapters"].texts("name") == ["new"])
        #expect(found[1][one: "author"] == nil)
        #expect(found[2][one: "author"] === author)
    }

    @Test(arguments: StoreKind.allCases)
    func `prefetching a relationship without destinations loads nothing`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.animals)
        let writer = store.context()
        writer.make("Bird")[one: "nest"] = writer.make("Nest")
        writer.make("Cat")
        try writer.save()
        let context = store.context()
        var request = context.request("Animal")
        request.relationshipKeyPathsForPrefetching = [
            store.model.entitiesByName["Bird"]!.relationships.filter { $0.name == "nest" }
        ]
        let animals: [ManagedObject] = try context.fetch(request)
        store.counter.reset()
        #expect(animals.count == 2)
        #expect(animals[0][one: "nest"] != nil)
        #expect(store.counter.reads == 0)
    }
}
