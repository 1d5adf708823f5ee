import Dispatch
import ObjectGraph
import Testing

@Suite struct AsynchronousFetchTests {
    private static func store(_ kind: StoreKind, count: Int) throws -> TestStore {
        let store = try TestStore(kind)
        let objects = (0..<count).map { ["name": Value.text("\($0)"), "born": .integer(Int64($0))] }
        try store.context().execute(
            BatchInsertRequest(store.model.entitiesByName["Author"]!, objects: objects)
        )
        return store
    }

    @Test(arguments: StoreKind.allCases)
    func `the results are those of a fetch`(kind: StoreKind) async throws {
        let store = try Self.store(kind, count: 100)
        let context = store.context()
        let born = store.model.path("Author", "born")
        var request = context.request("Author", where: born > 9, sortedBy: [QuerySort(born, ascending: false)])
        request.offset = 3
        request.limit = 20
        let found = try await context.fetchAsynchronously(request, as: ManagedObject.self)
        #expect(found.texts("name") == (77...96).reversed().map(String.init))
        #expect(try context.fetch(request, as: ManagedObject.self).elementsEqual(found, by: ===))
        let count = DictionaryFetchRequest(store.model.entitiesByName["Author"]!, [.init("count", .objectCount)])
        #expect(try await context.fetchDictionariesAsynchronously(count)[0]["count"] == 100)
    }

    @Test(arguments: StoreKind.allCases)
    func `unsaved changes take part`(kind: StoreKind) async throws {
        let store = try Self.store(kind, count: 5)
        let context = store.context()
        let authors = try context.all("Author")
        authors[1]["born"] = 50
        context.delete(authors[2])
        context.make("Author", ["name": "new", "born": 3])
        let request = context.request("Author", sortedBy: [QuerySort(store.model.path("Author", "born"))])
        let found = try await context.fetchAsynchronously(request, as: ManagedObject.self)
        #expect(found.texts("name") == ["0", "3", "new", "4", "1"])
    }

    @Test(arguments: StoreKind.allCases)
    func `relationships are prefetched`(kind: StoreKind) async throws {
        let store = try TestStore(kind)
        let writer = store.context()
        for _ in 0..<10 { writer.make("Book")[one: "author"] = writer.make("Author", ["name": "x"]) }
        try writer.save()
        let context = store.context()
        var request = context.request("Book")
        request.relationshipKeyPathsForPrefetching = [
            store.model.entitiesByName["Book"]!.relationships.filter { $0.name == "author" }
        ]
        let books = try await context.fetchAsynchronously(request, as: ManagedObject.self)
        store.counter.reset()
        #expect(books.allSatisfy { $0[one: "author"]?["name"] == "x" })
        #expect(store.counter.reads == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `a task that is cancelled before asks for nothing`(kind: StoreKind) async throws {
        let store = try Self.store(kind, count: 1)
        let (coordinator, request) = (store.coordinator, store.context().request("Author"))
        let begin = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in begin.stream {}
            let context = ManagedObjectContext(coordinator: coordinator)
            return try await context.fetchAsynchronously(request, as: ManagedObject.self).count
        }
        store.counter.reset()
        task.cancel()
        begin.continuation.finish()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(store.counter.reads == 0)
    }

    @Test func `cancelling ends a statement that would take hours`() async throws {
        let store = try Self.store(.sealed, count: 0)
        let writer = store.context()
        let tag = writer.make("Tag")
        tag[many: "books"] = (0..<200).map { _ in writer.make("Book", ["pages": 0]) }
        try writer.save()
        // Each further level multiplies the work by the number of books.
        func isSlow(from variable: Int, levels: Int) -> QueryExpression {
            if levels == 0 { return store.model.path(variable, "Book", "pages") == 1 }
            let tags = QueryExpression.quantified(
                .any,
                from: variable + 1,
                store.model.properties("Tag", ["books"]),
                variable: variable + 2,
                condition: isSlow(from: variable + 2, levels: levels - 1)
            )
            return .quantified(
                .any,
                from: variable,
                store.model.properties("Book", ["tags"]),
                variable: variable + 1,
                condition: tags
            )
        }
        let request = store.context().request("Book", where: isSlow(from: 0, levels: 6))
        let (coordinator, counter) = (store.coordinator, store.counter)
        counter.reset()
        let task = Task {
            let context = ManagedObjectContext(coordinator: coordinator)
            return try await context.fetchAsynchronously(request, as: ManagedObject.self).count
        }
        while counter[.fetch] == 0 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try store.context().count(writer.request("Book")) == 200, "the connection goes on")
    }
}
