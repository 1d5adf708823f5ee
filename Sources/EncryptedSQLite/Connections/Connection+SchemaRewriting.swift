import CSQLCipher

extension Connection {
    /// Replaces the statement that defines a table by one with further columns after the others.
    ///
    /// SQLite stores rows without the values of trailing columns, which then have their default values: adding a column
    /// does not depend on the number of rows. `ALTER TABLE ADD COLUMN` does the same, but reads all rows of a `STRICT`
    /// table, to compare their types with those of the columns. The SQLite manual describes the procedure under "Making
    /// Other Kinds Of Table Schema Changes".
    ///
    /// - Precondition: The transaction writes. The new columns allow NULL or have a default value of their type.
    package func replaceDefinition(ofTable name: String, with sql: String) throws {
        precondition(isInTransaction)
        csqlcipher_configure(handle, SQLITE_DBCONFIG_DEFENSIVE, 0)
        csqlcipher_configure(handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1)
        defer {
            csqlcipher_configure(handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0)
            csqlcipher_configure(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
        }
        try withUncachedStatement("UPDATE sqlite_schema SET sql = ?1 WHERE type = 'table' AND name = ?2") { statement in
            try statement.bind(text: sql, at: 1)
            try statement.bind(text: name, at: 2)
            try statement.run()
        }
        // The version of the schema changes with the view, so that every connection reads the schema again. This one
        // does so at once. The authorizer refuses the setting to statements of other layers.
        try execute(#"CREATE VIEW "_change" AS SELECT 1; DROP VIEW "_change""#)
        sqlite3_set_authorizer(handle, nil, nil)
        defer { StatementAuthorizer.install(on: handle) }
        try runSettings("PRAGMA writable_schema = RESET")
    }
}
