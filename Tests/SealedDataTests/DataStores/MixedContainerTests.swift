import Foundation
import SealedData
import TestSupport
import Testing

@Suite("Stores of several kinds in one container") struct MixedContainerTests {
    @Model
    final class Secret {
        var text: String
        init(_ text: String) { self.text = text }
    }

    private let folder = TemporaryFolder()

    private func container() throws -> ModelContainer {
        let configurations: [any DataStoreConfiguration] = [
            JSONStoreConfiguration(name: "open", fileURL: folder.file("open.json")),
            ModelConfiguration(
                "sealed",
                schema: Schema([Secret.self]),
                url: folder.file("sealed.store"),
                key: .ofTests
            ),
        ]
        return try ModelContainer(
            for: Schema([Itineraries.Trip.self, Secret.self]),
            configurations: configurations
        )
    }

    @Test func `each class goes to its store`() throws {
        do {
            let context = ModelContext(try container())
            context.insert(Itineraries.Trip("Kyoto"))
            context.insert(Secret("hidden"))
            try context.save()
        }
        let json = try String(contentsOf: folder.file("open.json"), encoding: .utf8)
        #expect(json.contains("Kyoto") && !json.contains("hidden"))
        let context = ModelContext(try container())
        #expect(try context.fetch(FetchDescriptor<Secret>()).map(\.text) == ["hidden"])
        #expect(try context.fetch(FetchDescriptor<Itineraries.Trip>()).map(\.name) == ["Kyoto"])
        #expect(context.container.configurations.map(\.name) == ["sealed"])
    }

    @Test func `a store receives the part of the schema that no other store has`() throws {
        final class Probe: DataStore {
            struct Configuration: DataStoreConfiguration {
                typealias Store = Probe
                let name = "probe"
                var schema: Schema?
            }
            typealias Snapshot = DefaultSnapshot
            let identifier = "probe"
            let schema: Schema
            let configuration: Configuration

            init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
                self.configuration = configuration
                schema = configuration.schema ?? Schema()
                if schema.entities.map(\.name) != ["Secret"] { throw DataStoreError.unsupportedFeature }
            }

            func fetch<T: PersistentModel>(
                _ request: DataStoreFetchRequest<T>
            ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
                DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: [])
            }

            func save(
                _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
            ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
                DataStoreSaveChangesResult(for: identifier)
            }
        }
        let trips = ModelConfiguration(schema: Itineraries.schema, isStoredInMemoryOnly: true)
        let container = try ModelContainer(
            for: Schema([Itineraries.Trip.self, Secret.self]),
            configurations: [Probe.Configuration(), trips] as [any DataStoreConfiguration]
        )
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Secret>()) == 0)
    }

    @Test func `a relationship between two stores is refused`() throws {
        let error = #expect(throws: SwiftDataError.modelValidationFailure) {
            try ModelContainer(
                for: Itineraries.schema,
                configurations: [
                    JSONStoreConfiguration(
                        name: "half",
                        schema: Schema(Itineraries.schema.entitiesByName["Stop"]!),
                        fileURL: folder.file("half.json")
                    ),
                    ModelConfiguration(isStoredInMemoryOnly: true),
                ] as [any DataStoreConfiguration]
            )
        }
        #expect("\(error!)".contains("Stop"))
    }
}
