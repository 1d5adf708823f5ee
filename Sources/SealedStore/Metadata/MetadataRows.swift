import EncryptedSQLite

/// Reads and changes the rows of the table `_metadata`, which are texts under keys.
struct MetadataRows {
    let connection: Connection

    /// The value of a row; nil if there is none.
    func value(for key: String) throws -> String? {
        try connection.withStatement(#"SELECT "value" FROM "_metadata" WHERE "key" = ?"#) { statement in
            try statement.bind(text: key, at: 1)
            return try statement.step() ? statement.string(at: 0) : nil
        }
    }

    /// All rows.
    func all() throws -> [String: String] {
        var values: [String: String] = [:]
        try connection.withStatement(#"SELECT "key", "value" FROM "_metadata""#) { statement in
            while try statement.step() { values[statement.string(at: 0)] = statement.string(at: 1) }
        }
        return values
    }

    /// The content of all rows, as ``SchemaText`` is the content of the schema.
    ///
    /// Takes a fraction of the time of decoding the rows.
    func content() throws -> ReadBytes {
        var content = ReadBytes()
        try connection.withUncachedStatement(#"SELECT +"key", +"value" FROM "_metadata""#) { row in
            while try row.step() {
                for column: Int32 in 0..<2 { content.append(row.text(at: column)) }
            }
        }
        return content
    }

    /// Writes a row, which replaces the row with the same key.
    func set(_ key: String, _ value: String) throws {
        let sql = #"INSERT OR REPLACE INTO "_metadata" ("key", "value") VALUES (?, ?)"#
        try connection.withStatement(sql) { statement in
            try statement.bind(text: key, at: 1)
            try statement.bind(text: value, at: 2)
            try statement.run()
        }
    }

    /// Writes a row unless there is a row with the same key.
    ///
    /// - Returns: Whether there was no such row.
    func add(_ key: String, _ value: String) throws -> Bool {
        guard try self.value(for: key) == nil else { return false }
        try set(key, value)
        return true
    }

    /// Removes a row.
    ///
    /// - Returns: its value; nil if there was none.
    @discardableResult
    func remove(_ key: String) throws -> String? {
        guard let value = try value(for: key) else { return nil }
        try delete(where: #""key" = ?"#, key)
        return value
    }

    /// Removes all rows whose keys begin with a prefix.
    func removeAll(withPrefix prefix: String) throws {
        try delete(where: #"substr("key", 1, length(?1)) = ?1"#, prefix)
    }

    private func delete(where condition: String, _ parameter: String) throws {
        try connection.withStatement(#"DELETE FROM "_metadata" WHERE \#(condition)"#) { statement in
            try statement.bind(text: parameter, at: 1)
            try statement.run()
        }
    }
}
