import EncryptedSQLite
import ObjectGraph

/// Gives a store the indexes that the program's model declares, and takes those from it that it does not declare any more.
///
/// A store that is opened for reading keeps those that it has.
struct IndexUpdate {
    private let model: ManagedObjectModel
    private let connection: Connection

    /// - Parameters:
    ///   - model: The model of the program, which differs from that of the store in its indexes at most.
    ///   - connection: A connection in a transaction.
    init(to model: ManagedObjectModel, on connection: Connection) {
        self.model = model
        self.connection = connection
    }

    static func isNeeded(_ metadata: StoreMetadataTable, for model: ManagedObjectModel) -> Bool {
        metadata.model.entities.contains { stored in
            model.entitiesByName[stored.name].map { $0.description.indexes != stored.description.indexes } ?? false
        }
    }

    /// Makes and removes indexes.
    ///
    /// - Returns: what the store says of itself now.
    func run() throws -> StoreMetadataTable {
        // Another process may have done it meanwhile.
        let stored = try StoreMetadataTable.read(on: connection)
        var names = stored.names
        names.updateIndexes(to: model, avoiding: try namesInUse())
        let updated = StoreMetadataTable(
            uuid: stored.uuid,
            formatVersion: stored.formatVersion,
            model: try ManagedObjectModel(
                entities: stored.model.declarations.map { declaration in
                    var declaration = declaration
                    declaration.indexes = model.entitiesByName[declaration.name]?.description.indexes ?? []
                    return declaration
                }
            ),
            names: names,
            columnsOfMixedForms: stored.columnsOfMixedForms
        )
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
        let schema = StoreSchema(model: metadata.model, names: metadata.names)
        var indexes: [SchemaNames.IndexName: SchemaIndex] = [:]
        for name in metadata.names.indexes {
            indexes[name] = SchemaIndex(name, model: schema.model, table: schema.table)
        }
        return indexes
    }

    private func namesInUse() throws -> UniqueNames {
        try connection.withStatement("SELECT name FROM sqlite_schema") { statement in
            var names: [String] = []
            while try statement.step() { names.append(statement.string(at: 0)) }
            return UniqueNames(names)
        }
    }
}
