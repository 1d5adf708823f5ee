import EncryptedSQLite
import ObjectGraph

/// Adds to a store the indexes that the program's model declares and the store lacks.
///
/// Indexes that the model does not declare stay. Programs with different declarations may have the file open at the
/// same time: if each removed the indexes of the other program, both would build indexes at every opening.
struct IndexUpdate {
    private let connection: Connection
    private let own: ManagedObjectModel
    private let stored: StoreMetadataTable

    /// - Parameters:
    ///   - connection: A connection in a write transaction.
    ///   - stored: The metadata of the file, whose schema is verified.
    ///   - own: The part of the program's model that the store holds. It differs from the model in the file at most in its
    ///     indexes.
    init(on connection: Connection, of stored: StoreMetadataTable, for own: ManagedObjectModel) {
        self.connection = connection
        self.own = own
        self.stored = stored
    }

    /// Creates and fills the missing indexes.
    ///
    /// - Returns: the new metadata of the store.
    func addMissing() throws -> StoreMetadataTable {
        let names = try Self.names(adding: own, to: stored, on: connection)
        return try change(to: names) { declared, stored in
            stored + declared.filter { !stored.contains($0) }
        }
    }

    /// Removes the indexes that the model does not declare.
    ///
    /// - Returns: the new metadata of the store.
    func removeUndeclared() throws -> StoreMetadataTable {
        var names = stored.names
        names.removeIndexes(notIn: own)
        return try change(to: names) { declared, stored in stored.filter(declared.contains) }
    }

    /// Makes the indexes of a file equal to the indexes in `names`.
    ///
    /// - Parameter merged: Returns the indexes that the model in the file is to declare for an entity.
    private func change(
        to names: SchemaNames,
        _ merged: (_ declared: [FetchIndexDescription], _ stored: [FetchIndexDescription]) -> [FetchIndexDescription]
    ) throws -> StoreMetadataTable {
        func change(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
            let declarations = model.declarations.map { declaration in
                var declaration = declaration
                let declared = own.entitiesByName[declaration.name]?.description.indexes ?? []
                declaration.indexes = merged(declared, declaration.indexes)
                return declaration
            }
            return try ManagedObjectModel(entities: declarations)
        }
        let updated = stored.with(model: try change(stored.model), union: try stored.union.map(change), names: names)
        let old = indexes(of: stored)
        let new = indexes(of: updated)
        for (name, index) in old where new[name] == nil { for sql in index.removal { try connection.execute(sql) } }
        for (name, index) in new where old[name] == nil {
            for sql in index.creation + index.population { try connection.execute(sql) }
        }
        try updated.write(on: connection)
        return updated
    }

    private func indexes(of metadata: StoreMetadataTable) -> [SchemaNames.IndexName: SchemaIndex] {
        let schema = StoreSchema(model: metadata.fileModel, names: metadata.names)
        var indexes: [SchemaNames.IndexName: SchemaIndex] = [:]
        for name in metadata.names.indexes {
            indexes[name] = SchemaIndex(name, model: schema.model, table: schema.table)
        }
        return indexes
    }

    /// The names of a store, and the names of the indexes of a model that the store lacks.
    static func names(
        adding own: ManagedObjectModel,
        to stored: StoreMetadataTable,
        on connection: Connection
    ) throws -> SchemaNames {
        let namesInUse = try connection.withStatement("SELECT name FROM sqlite_schema") { statement in
            var names: [String] = []
            while try statement.step() { names.append(statement.string(at: 0)) }
            return UniqueNames(names)
        }
        var names = stored.names
        names.addIndexes(of: own, avoiding: namesInUse)
        return names
    }
}

extension SealedStore {
    /// Removes from the file the indexes that the store's model does not declare.
    ///
    /// Opening adds the missing indexes and removes none, since another program may declare and need them. An index
    /// that no program needs any more costs time at every save, and space in the file, until it is removed.
    ///
    /// Containers and processes that have the file open continue without the indexes. Searches that need a removed
    /// full-text index throw `FullTextError.noIndex`, until the file is opened again, which adds the index.
    ///
    /// - Throws: `ObjectGraphError.storeIsReadOnly`; `DatabaseError` from SQLite.
    /// - Complexity: O(*n*) in the size of the removed indexes.
    public func removeUndeclaredIndexes() throws {
        _ = try opened.writeTransaction { connection in
            // Another process may have changed the file since it was opened.
            let content = try StoreContent.read(on: connection)
            let (stored, _) = try opened.states.reading.fitting(content, on: connection)
            return try IndexUpdate(on: connection, of: stored, for: opened.own).removeUndeclared()
        }
    }
}
