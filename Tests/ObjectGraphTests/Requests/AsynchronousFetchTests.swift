import Dispatch
import Foundation
import Guarded
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
    func `the results include unsaved changes`(kind: StoreKind) async throws {
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
    func `a task that is cancelled before the fetch sends no request`(kind: StoreKind) async throws {
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

    @Test(arguments: StoreKind.allCases)
    func `a progress counts the rows`(kind: StoreKind) async throws {
        let store = try Self.store(kind, count: 1_000)
        let context = store.context()
        let progress = Progress(totalUnitCount: -1)
        #expect(progress.isIndeterminate)
        _ = try await context.fetchAsynchronously(context.request("Author"), as: ManagedObject.self, progress: progress)
        #expect(progress.isFinished)
        #expect(progress.completedUnitCount == 1_000)
        #expect(progress.totalUnitCount == 1_000)

        let rows = Progress(totalUnitCount: 10)
        let all = DictionaryFetchRequest(store.model.entitiesByName["Author"]!)
        _ = try await context.fetchDictionariesAsynchronously(all, progress: rows)
        #expect(rows.isFinished)
        #expect(rows.completedUnitCount == 1_000)
    }

    @Test func `rows are reported while they are read`() async throws {
        let context = try Self.store(.sealed, count: 1_000).context()
        let progress = RecordingProgress.make()
        _ = try await context.fetchAsynchronously(context.request("Author"), as: ManagedObject.self, progress: progress)
        #expect(progress.counts.withLock { $0 } == [0, 256, 512, 768, 1_000, 1_000])
    }

    @Test(arguments: StoreKind.allCases)
    func `a fetch without results finishes its progress`(kind: StoreKind) async throws {
        let context = try Self.store(kind, count: 0).context()
        let whole = Progress(totalUnitCount: 1)
        let progress = Progress(totalUnitCount: -1, parent: whole, pendingUnitCount: 1)
        _ = try await context.fetchAsynchronously(context.request("Author"), as: ManagedObject.self, progress: progress)
        #expect(progress.isFinished)
        #expect(whole.isFinished)
    }

    @Test(arguments: StoreKind.allCases)
    func `a progress that is cancelled before the fetch sends no request`(kind: StoreKind) async throws {
        let store = try Self.store(kind, count: 1)
        let context = store.context()
        let request = context.request("Author")
        let progress = Progress(totalUnitCount: -1)
        progress.cancel()
        store.counter.reset()
        await #expect(throws: CancellationError.self) {
            try await context.fetchAsynchronously(request, as: ManagedObject.self, progress: progress).count
        }
        #expect(store.counter.reads == 0)
        #expect(!progress.isFinished)
    }

    @Test(arguments: [true, false])
    func `cancellation interrupts a statement that would take hours`(byProgress: Bool) async throws {
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
                .members(from: variable + 1, store.model.properties("Tag", ["books"])),
                variable: variable + 2,
                condition: isSlow(from: variable + 2, levels: levels - 1)
            )
            return .quantified(
                .any,
                .members(from: variable, store.model.properties("Book", ["tags"])),
                variable: variable + 1,
                condition: tags
            )
        }
        let request = store.context().request("Book", where: isSlow(from: 0, levels: 6))
        let (coordinator, counter) = (store.coordinator, store.counter)
        let progress = Progress(totalUnitCount: -1)
        counter.reset()
        let task = Task {
            let context = ManagedObjectContext(coordinator: coordinator)
            return try await context.fetchAsynchronously(request, as: ManagedObject.self, progress: progress).count
        }
        while counter[.fetch] == 0 { await Task.yield() }
        if byProgress { progress.cancel() } else { task.cancel() }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try store.context().count(writer.request("Book")) == 200, "the connection is usable afterwards")
    }
}

/// A progress that records its unit counts.
///
/// `@unchecked Sendable`: its only stored property is guarded.
private final class RecordingProgress: Progress, @unchecked Sendable {
    let counts = Guarded<[Int64]>([])

    static func make() -> RecordingProgress { RecordingProgress(parent: nil) }

    override var completedUnitCount: Int64 {
        didSet { counts.withLock { $0.append(completedUnitCount) } }
    }
}
