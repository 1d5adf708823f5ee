import EncryptedSQLite
import Foundation
import ObjectGraph

/// Reads the large blobs that fetches leave in the store.
///
/// A fetch selects the length of an attribute that allows external storage, for which SQLite does not read the value,
/// and omits values longer than ``EntitySelection/deferralLimit``. Such columns are the last columns of their table, so
/// that SQLite reaches the other columns without reading the value's pages.
final class DeferredBlobs: DeferredValueSource {
    private let database: Database
    private let schema: StoreSchema
    private let states: FileStates
    /// The state that is read; nil for the latest one.
    private let generation: SnapshotGeneration?

    init(
        _ database: Database,
        _ schema: StoreSchema,
        _ states: FileStates,
        generation: SnapshotGeneration? = nil
    ) {
        self.database = database
        self.schema = schema
        self.states = states
        self.generation = generation
    }

    /// Returns a source that reads the values in a state of the store.
    func pinned(to generation: SnapshotGeneration) -> DeferredBlobs {
        DeferredBlobs(database, schema, states, generation: generation)
    }

    func blob(at slot: Int, key: Int64, entityIndex: Int) throws -> Data? {
        if let generation { return try generation.snapshot.perform { try read(slot, key, entityIndex) } }
        return try read(slot, key, entityIndex)
    }

    private func read(_ slot: Int, _ key: Int64, _ entityIndex: Int) throws -> Data? {
        let entity = schema.model.entities[entityIndex]
        let table = schema.table(of: entity)
        guard slot < entity.properties.count, let column = table.column(of: entity.properties[slot]) else { return nil }
        return try database.read { connection in
            let mayRefer =
                try states.state(on: connection).schema.conditions.hasLargeValues && column.mayRefer
            let value = mayRefer ? LargeValueReference.value(of: column.name) : column.name
            let isLost = mayRefer ? LargeValueReference.isLost(column.name) : "0"
            return try connection.withStatement("SELECT \(value), \(isLost) FROM \(table.name) WHERE \"_id\" = ?") {
                statement in
                try statement.bind(key, at: 1)
                guard try statement.step() else { return nil }
                guard [.blob, .null].contains(statement.columnType(0)), statement.integer(at: 1) == 0 else {
                    throw SealedStoreError.damagedRow(entity: entity.name, property: column.property.name)
                }
                return Data(statement.blob(at: 0))
            }
        }
    }
}
