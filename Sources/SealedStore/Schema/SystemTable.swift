import EncryptedSQLite

/// A table with data of the store itself, beside the tables of the entities.
struct SystemTable: Sendable {
    let name: String
    /// The statement that creates the table.
    let creation: String
    /// Whether a new store has the table. A file gets another table with the first use of its feature.
    var isInEveryStore = false
    /// Whether no version of the package has given the name to the table of an entity. Versions that did not know the table
    /// may have done so.
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
