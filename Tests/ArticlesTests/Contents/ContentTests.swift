import Foundation
import SealedData
import Testing

@Suite("The article about a repository behind a view model")
struct ContentTests {
    private let modelContainer: ModelContainer

    /// The container for tests in the article's third supplement.
    init() throws {
        let schema = Schema([ContentModel.self])
        let modelConfiguration = ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
        modelContainer = try ModelContainer(for: schema, configurations: modelConfiguration)
    }

    @Test func `the repository returns the inserted contents`() async throws {
        let repository = Fetching.ContentRepository(modelContainer: modelContainer)
        #expect(await repository.fetchAll() == [])
        let contents = ["a", "b"].map { ContentEntity(id: UUID(), title: $0) }
        for content in contents { await repository.insertContent(contentEntity: content) }
        #expect(await repository.fetchAll() == contents)
        let other = Fetching.ContentRepository(modelContainer: modelContainer)
        #expect(await other.fetchAll() == contents)
        await other.insertContent(contentEntity: ContentEntity(id: contents[0].id, title: "c"))
        #expect(await other.fetchAll().map(\.title) == ["c", "b"])
        #expect(await repository.fetchAll().map(\.title) == ["c", "b"])
    }

    @Test func `the repository does not work on the main thread`() async {
        let repository = Fetching.ContentRepository(modelContainer: modelContainer)
        #expect(await repository.isOnMainThread == false)
    }

    @Test func `only the main context saves automatically`() async throws {
        #expect(await mainContextSavesByItself)
        let repository = Fetching.ContentRepository(modelContainer: modelContainer)
        #expect(await repository.savesByItself == false)
        try await repository.insertInTransaction(title: "in a transaction")
        let other = Fetching.ContentRepository(modelContainer: modelContainer)
        #expect(await other.fetchAll().map(\.title) == ["in a transaction"])
    }

    @MainActor private var mainContextSavesByItself: Bool { modelContainer.mainContext.autosaveEnabled }

    @Test func `a view model that fetches after each insertion shows the stored contents`() async {
        await #expect(processExitsWith: .success) {
            try await withDefaultStores {
                let viewModel = await Fetching.ContentViewModel()
                await viewModel.insertContents()
                await viewModel.insertContents()
                #expect(await viewModel.contents.count == 2)
                let next = await Fetching.ContentViewModel()
                await contents(of: next, reach: 2) { $0.contents.count }
            }
        }
    }

    @Test func `a view model that waits for notifications shows the stored contents`() async {
        await #expect(processExitsWith: .success) {
            try await withDefaultStores {
                let viewModel = await Observing.ContentViewModel()
                let other = await Observing.ContentViewModel()
                await viewModel.insertContents()
                await contents(of: viewModel, reach: 1) { $0.contents.count }
                await contents(of: other, reach: 1) { $0.contents.count }
                await other.insertContents()
                await contents(of: viewModel, reach: 2) { $0.contents.count }
            }
        }
    }
}

/// Waits until an observed number is the expected one, like a view that is redrawn after each change.
@MainActor
private func contents<ViewModel: AnyObject & Sendable>(
    of viewModel: ViewModel,
    reach expected: Int,
    _ count: @escaping @MainActor (ViewModel) -> Int
) async {
    while true {
        var drawn = 0
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        withObservationTracking {
            drawn = count(viewModel)
        } onChange: {
            continuation.finish()
        }
        if drawn == expected { return }
        for await _ in changes {}
    }
}

extension Fetching.ContentRepository {
    fileprivate var isOnMainThread: Bool { Thread.isMainThread }

    fileprivate var savesByItself: Bool { modelContext.autosaveEnabled }

    fileprivate func insertInTransaction(title: String) throws {
        try modelContext.transaction {
            modelContext.insert(ContentModel(id: UUID(), title: title))
        }
    }
}
