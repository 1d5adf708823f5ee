import Foundation
import SealedData
import TestSupport
import Testing

/// Classes of two versions of a schema, with the same name.
enum Shops {
    enum V1 {
        @Model
        final class Shop {
            var name = ""
            init() {}
        }
    }

    enum V2 {
        @Model
        final class Shop {
            var name = ""
            init() {}
        }
    }
}

@Suite("Classes outside the schema") struct UnknownClassTests {
    private let folder = TemporaryFolder()
    private let configuration: ModelConfiguration
    private let container: ModelContainer

    init() throws {
        let key = try EncryptionKey.raw(Array(repeating: 7, count: 32))
        configuration = ModelConfiguration(
            schema: Schema([Shops.V1.Shop.self]),
            url: folder.file("shops.store"),
            key: key
        )
        container = try ModelContainer(for: Shops.V1.Shop.self, configurations: configuration)
    }

    /// Expects an error that names the class `Shops.V2.Shop`.
    private func expectRefusal(_ body: () throws -> Void, _ location: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: SwiftDataError.unknownSchema, sourceLocation: location) { try body() }
        let text = error.map { "\($0)" } ?? ""
        #expect(
            text.contains("class 'Shops.V2.Shop' is not in the container's schema") && !text.contains("migration plan"),
            "\(text)",
            sourceLocation: location
        )
    }

    @Test func `fetches, aggregates and live results name the class`() {
        let context = ModelContext(container)
        expectRefusal { _ = try context.fetch(FetchDescriptor<Shops.V2.Shop>()) }
        expectRefusal { _ = try context.fetchCount(FetchDescriptor<Shops.V2.Shop>()) }
        expectRefusal { try context.delete(model: Shops.V2.Shop.self) }
        expectRefusal { _ = try context.aggregate(Shops.V2.Shop.self, .count()) }
        expectRefusal {
            _ = try ResultsObserver(sortBy: [SortDescriptor(\Shops.V2.Shop.name)], modelContext: context)
        }
    }

    @Test func `observers of the history name the class`() {
        expectRefusal {
            _ = try HistoryObserver(observedModels: [Shops.V2.Shop.self], modelContainer: container)
        }
    }

    @Test func `requests to a store that is opened directly name the class`() throws {
        let store = try DefaultStore(configuration)
        expectRefusal { try store.delete(DataStoreBatchDeleteRequest<Shops.V2.Shop>()) }
    }
}
