import Foundation
@testable import ObjectGraph
import Testing

/// A store that implements the requirements without defaults only.
@Suite struct MinimalStoreTests {
    private let coordinator: PersistentStoreCoordinator
    private let context: ManagedObjectContext

    init() throws {
        PersistentStoreCoordinator.registerStoreClass(MinimalStore.self, type: MinimalStore.type)
        coordinator = PersistentStoreCoordinator(model: Fixtures.library)
        try coordinator.addPersistentStore(PersistentStoreDescription(type: MinimalStore.type, url: nil))
        context = ManagedObjectContext(coordinator: coordinator)
        for number in 0..<4 {
            let author = context.make("Author", ["name": .text("\(number)"), "born": .integer(Int64(number))])
            for _ in 0..<number { author[many: "books"].append(context.make("Book")) }
        }
        try context.save()
    }

    private func newContext() -> ManagedObjectContext { ManagedObjectContext(coordinator: coordinator) }

    private var late: FetchRequest {
        let born = coordinator.model.path("Author", "born")
        return context.request("Author", where: .comparison(.greater, born, .literal(.integer(1))))
    }

    @Test func `counts and identifiers are those of the fetched rows`() throws {
        let fetched: [ManagedObject] = try newContext().fetch(late)
        #expect(fetched.map { $0["name"] } == [.text("2"), .text("3")])
        #expect(try newContext().count(late) == 2)
        #expect(try newContext().fetchIDs(late) == fetched.map(\.managedObjectID))
        var limited = late
        limited.limit = 1
        #expect(try newContext().count(limited) == 1)
    }

    @Test func `relationships of several objects are read one by one`() throws {
        let context = newContext()
        let authors = try context.all("Author")
        #expect(authors.map { $0[many: "books"].count }.sorted() == [0, 1, 2, 3])
        for book in authors.flatMap({ $0[many: "books"] }) {
            let author = try #require(book[one: "author"])
            #expect(authors.contains { $0 === author })
        }
        withExtendedLifetime(context) {}
    }

    @Test func `an asynchronous fetch reports its rows at its end`() async throws {
        let progress = Progress(totalUnitCount: -1)
        let context = newContext()
        let found: [ManagedObject] = try await context.fetchAsynchronously(late, progress: progress)
        #expect(found.count == 2)
        #expect(progress.completedUnitCount == 2 && progress.isFinished)
    }

    @Test func `a request that the store does not implement is an error that names the store and the request`() throws {
        let author = coordinator.model.entitiesByName["Author"]!
        func expectUnsupported(_ request: String, _ body: () throws -> Void) {
            let error = #expect(throws: ObjectGraphError.self, performing: body)
            #expect("\(error.map { "\($0)" } ?? "")" == "stores of type 'Minimal' do not support '\(request)'")
        }
        expectUnsupported("BatchDeleteRequest") { try context.execute(BatchDeleteRequest(author)) }
        expectUnsupported("BatchInsertion") { try context.execute(BatchInsertRequest(author, objects: [])) }
        expectUnsupported("BatchUpdateRequest") { try context.execute(BatchUpdateRequest(author)) }
        expectUnsupported("QueryPlanRequest") { _ = try context.explain(late) }
        expectUnsupported("EraseRequest") { try coordinator.eraseStores() }
        expectUnsupported("DictionaryFetchRequest") {
            let count = ExpressionDescription("count", .objectCount)
            _ = try context.fetchDictionaries(DictionaryFetchRequest(author, [count]))
        }
        expectUnsupported("FullTextMatchRequest") {
            var request = late
            request.search = FullTextSearch("word")
            let _: [FullTextMatch<ManagedObject>] = try context.search(request)
        }
        #expect(try newContext().count(late) == 2, "nothing has changed")
    }
}

private final class MinimalStore: IncrementalStore {
    static let type = "Minimal"

    private let store: ReferenceStore

    private init(_ store: ReferenceStore) {
        self.store = store
    }

    static func loadMetadata(
        of description: PersistentStoreDescription,
        for model: ManagedObjectModel
    ) throws -> MinimalStore {
        MinimalStore(try ReferenceStore.loadMetadata(of: description, for: model))
    }

    var metadata: StoreMetadata { StoreMetadata(uuid: store.metadata.uuid, type: Self.type) }

    func execute(_ request: FetchRequest, with context: RequestContext) throws -> RowBatch {
        try store.execute(request, with: context)
    }

    func execute(_ request: SaveChangesRequest, with context: RequestContext) throws -> SaveResult {
        try store.execute(request, with: context)
    }

    func newValuesForObject(
        with id: ManagedObjectID,
        with context: RequestContext
    ) throws -> IncrementalStoreNode? {
        try store.newValuesForObject(with: id, with: context)
    }

    func newValue(
        forRelationship relationship: Relationship,
        forObjectWith id: ManagedObjectID,
        with context: RequestContext
    ) throws -> RelationshipValue {
        try store.newValue(forRelationship: relationship, forObjectWith: id, with: context)
    }

    func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID] {
        try store.obtainPermanentIDs(for: entity, count: count)
    }
}
