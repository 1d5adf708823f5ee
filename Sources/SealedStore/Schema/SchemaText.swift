import EncryptedSQLite

/// The content of the schema of a file. Equal contents are equal schemas.
struct SchemaText: Hashable {
    private let bytes: ReadBytes

    // The columns are expressions: SQLite looks up the origin of plain columns, which takes a fifth of the compilation.
    static let sql = "SELECT +type, +name, +tbl_name, +sql FROM sqlite_schema"

    /// The statements that create the tables which every store has, in UTF-8.
    private static let own = SchemaStatements.own.map { Array($0.utf8) }

    /// Reads the schema of a connection's file.
    ///
    /// - Throws: ``SealedStoreError/notAStore`` if the file has no table `_metadata`;
    ///   ``SealedStoreError/foreignSchema(object:)`` if a store did not make the tables that are read before the
    ///   comparison of the whole schema.
    init(on connection: Connection) throws {
        var bytes = ReadBytes()
        var isFound = Array(repeating: false, count: Self.own.count)
        var hasMetadata = false
        try connection.withUncachedStatement(Self.sql) { row in
            while try row.step() {
                for column: Int32 in 0..<4 { bytes.append(row.text(at: column)) }
                guard isFound.contains(false) else { continue }
                if row.text(at: 1).elementsEqual("_metadata".utf8) { hasMetadata = true }
                let statement = row.text(at: 3)
                for index in isFound.indices where Self.own[index].withUnsafeBytes({ $0.isEqual(to: statement) }) {
                    isFound[index] = true
                }
            }
        }
        guard let missing = isFound.firstIndex(of: false) else {
            self.bytes = bytes
            return
        }
        guard hasMetadata else { throw SealedStoreError.notAStore }
        throw SealedStoreError.foreignSchema(object: SQL.nameOfObject(madeBy: SchemaStatements.own[missing]))
    }
}
