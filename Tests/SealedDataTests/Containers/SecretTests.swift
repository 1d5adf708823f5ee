import Foundation
import ObjectGraph
import SealedData
import SealedStore
import TestSupport
import Testing

/// Descriptions, mirrors and dumps of values that hold or held a key.
@Suite struct SecretTests {
    private static let marker = "marker-of-a-secret"
    private let folder = TemporaryFolder()

    private func texts(_ subject: Any) -> [String] {
        var dumped = ""
        dump(subject, to: &dumped)
        return ["\(subject)", String(describing: subject), String(reflecting: subject), dumped]
    }

    private func expectNoSecret(_ subject: Any, _ location: SourceLocation = #_sourceLocation) {
        for text in texts(subject) {
            #expect(!text.contains(Self.marker), "\(text.prefix(400))", sourceLocation: location)
        }
    }

    private func configuration() -> ModelConfiguration {
        ModelConfiguration(url: folder.url.appending(path: "a.store"), key: .passphrase(Self.marker))
    }

    @Test func `a description shows the names and types of its options, never a value`() {
        SealedStore.register()
        for type in [SealedStore.storeType, "a type that is not registered"] {
            var description = PersistentStoreDescription(
                type: type,
                url: nil,
                options: [SealedStore.keyOption: Self.marker, "other": [Self.marker]]
            )
            expectNoSecret(description)
            description.options["third"] = Self.marker
            expectNoSecret(description)
            #expect(description.description.contains("other: Array<String>"))
        }
    }

    @Test func `a passphrase that is a String becomes an EncryptionKey as soon as it is set`() {
        SealedStore.register()
        var description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: nil,
            options: [SealedStore.keyOption: Self.marker]
        )
        #expect(description.options[SealedStore.keyOption] is EncryptionKey)
        description.options[SealedStore.keyOption] = Self.marker
        #expect(description.options[SealedStore.keyOption] is EncryptionKey)
        var other = PersistentStoreDescription(type: "none", url: nil, options: [SealedStore.keyOption: Self.marker])
        other.type = SealedStore.storeType
        #expect(other.options[SealedStore.keyOption] is EncryptionKey)
    }

    @Test func `an open store and its container have no key, and compare as before`() throws {
        let configuration = configuration()
        let container = try ModelContainer(for: Shelf.self, configurations: configuration)
        #expect(container.configurations == [configuration])
        for subject in [container, container.configurations, configuration, ModelContext(container)] as [Any] {
            expectNoSecret(subject)
        }
        let kept = try #require(container.configurations.first)
        #expect(throws: SwiftDataError.loadIssueModelContainer, "the container has forgotten the key") {
            try ModelContainer(for: Shelf.self, configurations: kept)
        }
        let again = try ModelContainer(for: Shelf.self, configurations: configuration)
        #expect(again.configurations == container.configurations)
    }

    @Test func `a store that was opened directly no longer has the key`() throws {
        var configuration = configuration()
        configuration.schema = Schema([Shelf.self])
        let store = try DefaultStore(configuration)
        #expect(store.configuration == configuration)
        expectNoSecret(store.configuration)
        expectNoSecret(store)
        let again = try DefaultStore(configuration)
        #expect(again.identifier == store.identifier)
    }

    @Test func `errors of opening show no key`() throws {
        let configuration = configuration()
        _ = try ModelContainer(for: Shelf.self, configurations: configuration)
        let wrong = ModelConfiguration(url: configuration.url, key: .passphrase("\(Self.marker) and more"))
        let error = #expect(throws: SwiftDataError.self) { try ModelContainer(for: Shelf.self, configurations: wrong) }
        expectNoSecret(try #require(error))
        SealedStore.register()
        let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(entities: []))
        let malformed = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: configuration.url,
            options: [SealedStore.keyOption: [Self.marker]]
        )
        let other = #expect(throws: SealedStoreError.self) { try coordinator.addPersistentStore(malformed) }
        expectNoSecret(try #require(other))
    }

    @Test func `errors of saving show no value`() throws {
        let container = try ModelContainer(
            for: Shelf.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let (first, second) = (ModelContext(container), ModelContext(container))
        let shelf = Shelf(name: Self.marker)
        first.insert(shelf)
        try first.save()
        let other = try #require(try second.fetch(FetchDescriptor<Shelf>()).first)
        other.name = "\(Self.marker) of another context"
        shelf.name = "\(Self.marker) again"
        try first.save()
        let graph = try #require(other.managedObjectContext)
        graph.mergePolicy = .error
        let conflict = #expect(throws: ObjectGraphError.self) { try graph.save() }
        expectNoSecret(try #require(conflict))
    }

    @Test func `errors of predicate formats show no literal`() throws {
        let malformed = "name == == '\(Self.marker)'"
        let error = #expect(throws: PredicateFormatError.self) { try Shelf.predicate(format: malformed) }
        expectNoSecret(try #require(error))
        let container = try ModelContainer(
            for: Shelf.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let misspelt = FetchDescriptor(predicate: try Shelf.predicate(format: "naem == '\(Self.marker)'"))
        let other = #expect(throws: (any Error).self) { try ModelContext(container).fetch(misspelt) }
        expectNoSecret(try #require(other))
    }
}
