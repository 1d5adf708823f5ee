import Foundation
import SealedData

/// A store in memory that returns each model twice, and perhaps assigns no identifiers to new models.
final class RepeatingStoreConfiguration: DataStoreConfiguration {
    typealias Store = RepeatingStore

    var name: String
    var schema: Schema?
    let isAssigning: Bool
    let fileURL: URL

    init(name: String, isAssigning: Bool = true, schema: Schema? = nil, fileURL: URL) {
        self.name = name
        self.isAssigning = isAssigning
        self.schema = schema
        self.fileURL = fileURL
    }

    static func == (left: RepeatingStoreConfiguration, right: RepeatingStoreConfiguration) -> Bool {
        left.name == right.name
    }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

final class RepeatingStore: DataStore {
    typealias Configuration = RepeatingStoreConfiguration
    typealias Snapshot = DefaultSnapshot

    let configuration: RepeatingStoreConfiguration
    let schema: Schema
    let identifier: String
    private var models: [PersistentIdentifier: DefaultSnapshot] = [:]

    init(_ configuration: RepeatingStoreConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        schema = configuration.schema!
        identifier = configuration.fileURL.path
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        var assigned: [PersistentIdentifier: PersistentIdentifier] = [:]
        if configuration.isAssigning {
            for snapshot in request.inserted {
                assigned[snapshot.persistentIdentifier] = try .identifier(
                    for: identifier,
                    entityName: snapshot.persistentIdentifier.entityName,
                    primaryKey: UUID()
                )
            }
        }
        for snapshot in request.inserted + request.updated {
            let id = assigned[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            models[id] = snapshot.copy(persistentIdentifier: id, remappedIdentifiers: assigned)
        }
        for snapshot in request.deleted { models[snapshot.persistentIdentifier] = nil }
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: assigned)
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        let all = Array(models.values)
        return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: all + all, relatedSnapshots: [:])
    }
}
