package import EncryptedSQLite

// The results of SQL text, for all test targets.

extension Connection {
    /// The integer in the first column of the first row; nil without a row.
    package func integer(_ sql: String) throws -> Int64? {
        try withStatement(sql) { try $0.step() ? $0.integer(at: 0) : nil }
    }

    /// The text in the first column of the first row; nil without a row.
    package func string(_ sql: String) throws -> String? {
        try withStatement(sql) { try $0.step() ? $0.string(at: 0) : nil }
    }

    /// The first column of all rows; nil for NULL.
    package func integers(_ sql: String) throws -> [Int64?] {
        try withStatement(sql) { row in
            var values: [Int64?] = []
            while try row.step() { values.append(row.isNull(at: 0) ? nil : row.integer(at: 0)) }
            return values
        }
    }
}
