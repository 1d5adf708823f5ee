import CSQLCipher

extension Connection {
    /// Replaces the statement that defines a table by a statement with further columns at the end.
    ///
    /// SQLite stores rows without the values of trailing columns, which then have their default values: the cost of
    /// adding a column does not depend on the number of rows. `ALTER TABLE ADD COLUMN` does the same, but reads all
    /// rows of a `STRICT` table, to check the types of their values. The SQLite manual describes the procedure under
    /// "Making Other Kinds Of Table Schema Changes".
    ///
    /// The schema can be written only during this call. SQLite parses the new statement before the call returns. An
    /// error leaves the transaction to be rolled back, with which the schema of the connection is read again.
    ///
    /// - Throws: an error of SQLite if the statement is malformed; `DatabaseError` if the file has no such table.
    /// - Precondition: The transaction writes. The new columns allow NULL or have a default value of their type.
    package func replaceDefinition(ofTable name: String, with sql: String) throws {
        precondition(isInTransaction)
        try withWritableSchema {
            let update = "UPDATE sqlite_schema SET sql = ?1 WHERE type = 'table' AND name = ?2"
            try withUncachedStatement(update) { statement in
                try statement.bind(text: sql, at: 1)
                try statement.bind(text: name, at: 2)
                try statement.run()
            }
            guard changes == 1 else {
                throw DatabaseError.sqlite(
                    code: SQLITE_ERROR,
                    extendedCode: SQLITE_ERROR,
                    message: "no such table: \(name)"
                )
            }
            // Makes this connection parse the schema, although its version is still the same.
            try runSettings("PRAGMA writable_schema = RESET")
        }
        // The version of the schema changes with the view, so that the other connections parse the schema after the
        // commit. It changes after the statement above, which would make SQLite forget that a rollback changes the
        // schema back.
        try execute(Self.newSchemaVersion)
    }

    /// Removes a virtual table and the tables in which it stores its content, without its module: a module refuses to
    /// open tables that contradict each other, also for `DROP TABLE`.
    ///
    /// - Parameters:
    ///   - name: The name of the virtual table; nothing is removed if there is none.
    ///   - shadowTables: The names of the tables that store its content. Without the virtual table they are ordinary
    ///     tables.
    /// - Precondition: The transaction writes.
    package func removeVirtualTable(_ name: String, shadowTables: [String]) throws {
        precondition(isInTransaction)
        try withWritableSchema {
            let deletion = "DELETE FROM sqlite_schema WHERE type = 'table' AND name = ?1 AND rootpage = 0"
            try withUncachedStatement(deletion) { statement in
                try statement.bind(text: name, at: 1)
                try statement.run()
            }
            try runSettings("PRAGMA writable_schema = RESET")
        }
        for table in shadowTables {
            try execute("DROP TABLE IF EXISTS \"\(table.replacing("\"", with: "\"\""))\"")
        }
        try execute(Self.newSchemaVersion)
    }

    /// Statements that only change the version of the schema.
    private static let newSchemaVersion = #"CREATE VIEW "_change" AS SELECT 1; DROP VIEW "_change""#

    /// Calls `body` while statements may change the schema table, and settings are not refused.
    private func withWritableSchema(_ body: () throws -> Void) throws {
        let settings: [(name: Int32, value: Int32)] = [
            (SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0), (SQLITE_DBCONFIG_DEFENSIVE, 1),
        ]
        sqlite3_set_authorizer(handle, nil, nil)
        defer { StatementAuthorizer.install(on: self) }
        defer {
            for (name, value) in settings {
                let code = csqlcipher_configure(handle, name, value)
                // SQLite refuses only unknown settings, and accepted these when the connection was opened.
                precondition(code == SQLITE_OK, "The schema of a connection stayed writable.")
            }
        }
        for (name, value) in settings.reversed() {
            let code = csqlcipher_configure(handle, name, 1 - value)
            guard code == SQLITE_OK else { throw failure(code, during: .execution) }
        }
        try body()
    }
}
