import Foundation
import SealedData

/// A store in memory with a history of its own.
final class LoggedStore: DataStore, HistoryProviding {
    typealias Configuration = LoggedStoreConfiguration
    typealias Snapshot = DefaultSnapshot
    typealias HistoryType = LoggedTransaction

    var configuration: LoggedStoreConfiguration
    var name: String
    var schema: Schema
    var identifier: String
    private var models: [PersistentIdentifier: DefaultSnapshot] = [:]
    private var transactions: [LoggedTransaction] = []
    private var last = 0

    init(_ configuration: LoggedStoreConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        name = configuration.name
        schema = configuration.schema!
        identifier = configuration.name
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            remapped[snapshot.persistentIdentifier] = try .identifier(
                for: identifier,
                entityName: snapshot.persistentIdentifier.entityName,
                primaryKey: UUID()
            )
        }
        for snapshot in request.inserted + request.updated {
            let identifier = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            models[identifier] = snapshot.copy(persistentIdentifier: identifier, remappedIdentifiers: remapped)
        }
        for snapshot in request.deleted { models[snapshot.persistentIdentifier] = nil }
        last += 1
        let token = LoggedToken(tokenValue: last, storeIdentifier: identifier)
        transactions.append(
            LoggedTransaction(
                timestamp: Date(),
                changes: remapped.values.map {
                    .insert(LoggedInsert<ModelHistoryTests.Plain.Note>(changedPersistentIdentifier: $0))
                },
                token: token,
                author: request.editingState.author
            )
        )
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped, historyToken: token)
    }

    func fetch<T>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        guard request.descriptor.predicate == nil else { throw DataStoreError.preferInMemoryFilter }
        guard request.descriptor.sortBy.isEmpty else { throw DataStoreError.preferInMemorySort }
        return DataStoreFetchResult(
            descriptor: request.descriptor,
            fetchedSnapshots: models.values.filter { $0.persistentIdentifier.entityName == "\(T.self)" },
            relatedSnapshots: models
        )
    }

    func erase() throws { models = [:] }

    func fetchHistory(_ descriptor: HistoryDescriptor<LoggedTransaction>) throws -> [LoggedTransaction] {
        var found = try transactions.filter { try descriptor.predicate?.evaluate($0) ?? true }
        if !descriptor.sortBy.isEmpty { found.sort(using: descriptor.sortBy) }
        return descriptor.fetchLimit > 0 ? Array(found.prefix(Int(descriptor.fetchLimit))) : found
    }

    func deleteHistory(_ descriptor: HistoryDescriptor<LoggedTransaction>) throws {
        let deleted = Set(try fetchHistory(descriptor))
        transactions.removeAll { deleted.contains($0) }
    }
}

final class LoggedStoreConfiguration: DataStoreConfiguration {
    typealias Store = LoggedStore

    var name: String
    var schema: Schema?

    init(_ name: String, _ schema: Schema) {
        self.name = name
        self.schema = schema
    }

    static func == (left: LoggedStoreConfiguration, right: LoggedStoreConfiguration) -> Bool { left.name == right.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

struct LoggedToken: HistoryToken {
    var tokenValue: Int?
    var storeIdentifier: String

    var id: Int { tokenValue ?? 0 }

    static func < (left: LoggedToken, right: LoggedToken) -> Bool { left.id < right.id }
}

struct LoggedTransaction: HistoryTransaction {
    var timestamp: Date
    var changes: [HistoryChange]
    var token: LoggedToken
    var author: String?

    var id: Int { token.id }
    var transactionIdentifier: Int { token.id }
    var storeIdentifier: String { token.storeIdentifier }

    static func == (left: LoggedTransaction, right: LoggedTransaction) -> Bool { left.token == right.token }

    func hash(into hasher: inout Hasher) { hasher.combine(token) }
}

struct LoggedInsert<Model: PersistentModel>: HistoryInsert {
    var transactionIdentifier = 0
    var changeIdentifier = 0
    var changedPersistentIdentifier: PersistentIdentifier
}
