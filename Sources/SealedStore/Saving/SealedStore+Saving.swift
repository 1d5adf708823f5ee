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

    /// Runs `body` in a transaction, which is rolled back when it throws. Violated unique indexes are told in the model's
    /// words.
    func writeTransaction<R>(_ body: (Connection, Layout) throws -> R) throws -> R {
        guard !description.isReadOnly else { throw ObjectGraphError.storeIsReadOnly }
        let layout = try layout.value
        do {
            return try layout.database.write { try body($0, layout) }
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
