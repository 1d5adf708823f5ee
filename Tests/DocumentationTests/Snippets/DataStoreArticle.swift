// swift-format-ignore-file
// The Swift code of WritingADataStore, line by line: a test compares.

import Foundation
import SealedData

struct NotebookConfiguration: DataStoreConfiguration {
    typealias Store = Notebook

    var name: String
    var schema: Schema?
    var url: URL
}

final class Notebook: DataStore {
    typealias Configuration = NotebookConfiguration
    typealias Snapshot = DefaultSnapshot

    let configuration: NotebookConfiguration
    let schema: Schema
    var identifier: String { configuration.url.lastPathComponent }

    init(_ configuration: NotebookConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        schema = configuration.schema ?? Schema()
    }

    private func read() throws -> [PersistentIdentifier: DefaultSnapshot] {
        guard FileManager.default.fileExists(atPath: configuration.url.path) else { return [:] }
        let snapshots = try JSONDecoder().decode([DefaultSnapshot].self, from: Data(contentsOf: configuration.url))
        return Dictionary(uniqueKeysWithValues: snapshots.map { ($0.persistentIdentifier, $0) })
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        let all = try read()
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: Array(all.values), relatedSnapshots: all)
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        var permanent: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            let temporary = snapshot.persistentIdentifier
            permanent[temporary] = try .identifier(
                for: identifier, entityName: temporary.entityName, primaryKey: UUID())
        }
        var all = try read()
        for snapshot in request.inserted + request.updated {
            let id = permanent[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            all[id] = snapshot.copy(persistentIdentifier: id, remappedIdentifiers: permanent)
        }
        for snapshot in request.deleted { all[snapshot.persistentIdentifier] = nil }
        try JSONEncoder().encode(Array(all.values)).write(to: configuration.url, options: .atomic)
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: permanent)
    }
}

/// The statements of WritingADataStore.
func runDataStoreArticle(url: URL, write: (String) -> Void) throws {
    func print(_ value: some Any) { write("\(value)") }
    let notebook = try ModelContainer(
        for: Trip.self, configurations: NotebookConfiguration(name: "Trips", url: url))
    let draft = ModelContext(notebook)
    let journey = Trip(name: "Nara", start: .now)
    journey.stops.append(Stop(place: "Tōdai-ji"))
    draft.insert(journey)
    try draft.save()
    print(try draft.fetchCount(FetchDescriptor<Stop>(predicate: #Predicate { $0.trip?.name == "Nara" })))
}
