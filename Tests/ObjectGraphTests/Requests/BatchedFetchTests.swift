import ObjectGraph
import Testing

@Suite struct BatchedFetchTests {
    /// A store with a thousand books, every tenth of them by an author.
    private static func store(_ kind: StoreKind) throws -> TestStore {
        let store = try TestStore(kind)
        let context = store.context()
        for number in 0..<1000 {
            let book = context.make("Book", ["pages": .integer(Int64(number))])
            if number % 10 == 0 { book[one: "author"] = context.make("Author", ["born": .integer(Int64(number))]) }
        }
        try context.save()
        return store
    }

    @Test(arguments: StoreKind.allCases)
    func `the results are those of a fetch, in its order`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        var request = context.request(
            "Book",
            sortedBy: [QuerySort(context.model.path("Book", "pages"), ascending: false)]
        )
        request.limit = 950
        request.offset = 20
        let expected: [ManagedObject] = try context.fetch(request)
        let results: BatchedFetchResults<ManagedObject> = try context.fetch(request, batchSize: 64)
        #expect(Array(results) === expected)
        #expect(results.count == 950)
        #expect(results.last?["pages"] == 30)
    }

    @Test(arguments: StoreKind.allCases)
    func `a batch is read when it is reached, with its prefetched relationships`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        var request = context.request("Book")
        request.relationshipKeyPathsForPrefetching = [
            context.model.entitiesByName["Book"]!.relationships.filter { $0.name == "author" }
        ]
        let results: BatchedFetchResults<ManagedObject> = try context.fetch(request, batchSize: 100)
        store.counter.reset()
        #expect(results[555]["pages"] == 555)
        #expect(results[599]["pages"] == 599)
        #expect(results[510][one: "author"]?["born"] == 510)
        #expect(store.counter.reads == 2, "the batch, and its authors")
        #expect(context.registeredObjects.count <= 120)
    }

    @Test(arguments: StoreKind.allCases)
    func `iterating over all batches keeps a few of them in memory`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let results: BatchedFetchResults<ManagedObject> = try context.fetch(context.request("Book"), batchSize: 20)
        var sum: Int64 = 0
        var most = 0
        for (position, book) in results.enumerated() {
            if case .integer(let pages) = book["pages"] { sum += pages }
            if position % 100 == 99 { most = max(most, context.registeredObjects.count) }
        }
        #expect(sum == 499_500)
        #expect(most <= 5 * 20)
    }

    @Test(arguments: StoreKind.allCases)
    func `new objects are among the results, and deleted ones keep their positions`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let added = context.make("Book", ["pages": 5000])
        let results: BatchedFetchResults<ManagedObject> = try context.fetch(context.request("Book"), batchSize: 10)
        #expect(results.count == 1001)
        #expect(results[1000] === added)
        let other = store.context()
        other.delete(try other.one("Book", where: other.model.path("Book", "pages") == 77))
        try other.save()
        #expect(results[77].isObjectDeleted || results[77]["pages"] == .null)
        #expect(results[78]["pages"] == 78)
    }

    @Test(arguments: StoreKind.allCases)
    func `new objects that are saved before their batch is read stay results`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let added = (0..<25).map { context.make("Book", ["pages": .integer(5000 + $0)]) }
        let results: BatchedFetchResults<ManagedObject> = try context.fetch(context.request("Book"), batchSize: 10)
        try context.save()
        #expect(Array(results.suffix(25)) === added)
        #expect(results[999]["pages"] == 999)
        #expect(results.allSatisfy { !$0.isObjectDeleted })
    }
}
