import EncryptedSQLite

/// A table with data of the store itself, beside the tables of the entities.
struct SystemTable: Sendable {
    let name: String
    /// The statement that creates the table.
    let creation: String
    /// Whether a new store has the table. In other cases, a file gets the table when its feature is first used.
    var isInEveryStore = false
    /// Whether no version of the package can have given the name to the table of an entity. If false, versions that did
    /// not know this table may have done so.
    var ownsName = false

    /// Whether a file has the table.
    ///
    /// - Throws: ``SealedStoreError/foreignSchema(object:)`` if the file has another object of that name.
    func exists(on connection: Connection) throws -> Bool {
        try connection.withUncachedStatement("SELECT sql FROM sqlite_schema WHERE name = '\(name)'") { row in
            guard try row.step() else { return false }
            guard row.string(at: 0) == creation else { throw SealedStoreError.foreignSchema(object: name) }
            return true
        }
    }
}
