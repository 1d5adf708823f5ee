import EncryptedSQLite
import ObjectGraph

extension SealedStore {
    /// Writes changes in one transaction.
    func save(_ request: SaveChangesRequest) throws -> StoreResult {
        try writeTransaction { connection, layout in
            var transaction = SaveTransaction(connection, layout)
            try transaction.write(request)
        }
        return .saved
    }

    /// Runs `body` in a transaction on a file whose schema is the store's, and rolls the transaction back when it throws. The
    /// error of a violated unique index names entity and properties of the model.
    func writeTransaction<R>(_ body: (Connection, Layout) throws -> R) throws -> R {
        guard !description.isReadOnly else { throw ObjectGraphError.storeIsReadOnly }
        let layout = try layout.value
        do {
            return try layout.database.write { connection in
                // A trigger or view that another program has made since could change or lose what is written.
                _ = try layout.states.state(on: connection)
                return try body(connection, layout)
            }
        } catch DatabaseError.constraint(let violation) where violation.kind == .unique {
            throw notUnique(violation, layout.schema)
        }
    }

    /// The error for a violated unique index, in the model's words.
    private func notUnique(_ violation: ConstraintViolation, _ schema: StoreSchema) -> any Error {
        let table = violation.table.map(SQL.quoted)
        guard let entity = schema.model.entities.first(where: { $0.isRoot && schema.table(of: $0).name == table })
        else {
            return DatabaseError.constraint(violation)
        }
        let columns = Set(violation.columns.map(SQL.quoted))
        let properties = schema.table(of: entity).columns.filter { columns.contains($0.name) }.map(\.property.name)
        return SaveConflict.notUnique(entity: entity.name, properties: properties)
    }
}
