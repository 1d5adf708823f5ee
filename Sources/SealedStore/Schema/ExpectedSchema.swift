import EncryptedSQLite
import ObjectGraph

/// The objects that the schema of a store's file consists of, to compare the file's own list of them with.
///
/// A trigger that the store did not make could change or lose what is saved, a view in the place of a table could invent
/// rows, and both run for every program that opens the file. So every object has to be known: tables, views and triggers by their whole
/// statements, indexes of the store's own by what they are over. Further indexes of its tables that are not unique are
/// harmless. SQLite's own tables and the shadow tables of virtual tables are left to SQLite.
struct ExpectedSchema: Sendable {
    /// The statements that make tables, views and triggers.
    private var statements: Set<String> = []
    /// The statements that make indexes, without the names of the indexes, with these names.
    private var indexes: [IndexDefinition: String] = [:]
    /// The statements that make the tables of the store's own, by their names in SQLite's form.
    private var tableStatements: [String: String] = [:]
    /// The tables in which virtual tables keep their content.
    private var shadowTables: Set<String> = []
    /// The tables of the store's own, in SQLite's form of names.
    private var tables: Set<String> = []

    private struct IndexDefinition: Hashable {
        let isUnique: Bool
        /// What stands behind ON.
        let target: String
    }

    private static let tableBeginning = "CREATE TABLE "
    private static let indexBeginning = "CREATE INDEX "
    private static let uniqueIndexBeginning = "CREATE UNIQUE INDEX "

    init(_ schema: StoreSchema) {
        for statement in SchemaStatements(schema).all {
            if let name = Self.nameOfIndex(in: statement), let definition = Self.definition(of: statement, name) {
                indexes[definition] = name
            } else {
                statements.insert(statement)
                if statement.hasPrefix(Self.tableBeginning) {
                    tableStatements[SQL.foldedName(SQL.nameOfObject(madeBy: statement))] = statement
                }
            }
        }
        for name in schema.names.indexes { shadowTables.formUnion(name.shadowTables.map(SQL.foldedName)) }
        for table in schema.tables.map(\.name) + schema.joinTables.compactMap({ $0?.name }) {
            tables.insert(SQL.foldedName(SQL.unquoted(table)))
        }
    }

    /// Compares the schema of a connection's file.
    ///
    /// - Throws: ``SealedStoreError/foreignSchema(object:)`` with the first object that is missing or foreign.
    func compare(on connection: Connection) throws {
        var missing = statements
        var missingIndexes = indexes
        try connection.withUncachedStatement(SchemaFingerprint.sql) { row in
            while try row.step() {
                let (type, name, table) = (row.string(at: 0), row.string(at: 1), row.string(at: 2))
                // SQLite's own index of a primary key has no statement.
                guard !row.isNull(at: 3) else {
                    guard type == "index" else { throw Self.foreign(name) }
                    continue
                }
                let statement = row.string(at: 3)
                if missing.remove(statement) != nil { continue }
                switch type {
                case "index":
                    if let definition = Self.definition(of: statement, name),
                        missingIndexes.removeValue(forKey: definition) != nil
                    {
                        continue
                    }
                    guard statement.hasPrefix(Self.indexBeginning), tables.contains(SQL.foldedName(table)) else {
                        throw Self.foreign(name)
                    }
                case "table":
                    let folded = SQL.foldedName(name)
                    // A migration leaves the columns in another order than the model.
                    if let expected = tableStatements[folded], missing.contains(expected),
                        let expectedTable = TableDefinition(expected), let table = TableDefinition(statement),
                        expectedTable.isEquivalent(to: table)
                    {
                        missing.remove(expected)
                        continue
                    }
                    guard shadowTables.contains(folded) || folded.hasPrefix("sqlite_") else { throw Self.foreign(name) }
                default: throw Self.foreign(name)
                }
            }
        }
        if let statement = missing.sorted().first { throw Self.foreign(SQL.nameOfObject(madeBy: statement)) }
        if let name = missingIndexes.values.sorted().first { throw Self.foreign(name) }
    }

    private static func foreign(_ name: String) -> SealedStoreError { .foreignSchema(object: String(name.prefix(100))) }

    /// What an index with a name is over; nil for another statement.
    private static func definition(of statement: String, _ name: String) -> IndexDefinition? {
        for (beginning, isUnique) in [(indexBeginning, false), (uniqueIndexBeginning, true)] {
            let beginning = "\(beginning)\(SQL.quoted(name)) ON "
            if statement.hasPrefix(beginning) {
                return IndexDefinition(isUnique: isUnique, target: String(statement.dropFirst(beginning.count)))
            }
        }
        return nil
    }

    private static func nameOfIndex(in statement: String) -> String? {
        guard statement.hasPrefix(indexBeginning) || statement.hasPrefix(uniqueIndexBeginning) else { return nil }
        return SQL.nameOfObject(madeBy: statement)
    }
}

/// The schema of a file at one moment, as a number that tells it from others.
///
/// The number depends on a seed of the process: a file cannot be made to have the number of another one.
struct SchemaFingerprint {
    let value: Int

    static let sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema"

    /// Reads the schema of a connection's file.
    ///
    /// - Throws: ``SealedStoreError/notAStore`` if the file has no `_metadata`; ``SealedStoreError/foreignSchema(object:)`` if
    ///   the tables that are read before the rest of the schema can be compared are not those of a store.
    init(on connection: Connection) throws {
        var hasher = Hasher()
        var missing = SchemaStatements.own
        var hasMetadata = false
        try connection.withUncachedStatement(Self.sql) { row in
            while try row.step() {
                for column: Int32 in 0..<4 {
                    let bytes = row.text(at: column)
                    hasher.combine(bytes.count)
                    hasher.combine(bytes: bytes)
                }
                guard !missing.isEmpty else { continue }
                if row.string(at: 1) == "_metadata" { hasMetadata = true }
                let statement = row.text(at: 3)
                missing.removeAll { $0.utf8.elementsEqual(statement) }
            }
        }
        guard missing.isEmpty else {
            guard hasMetadata else { throw SealedStoreError.notAStore }
            throw SealedStoreError.foreignSchema(object: SQL.nameOfObject(madeBy: missing[0]))
        }
        value = hasher.finalize()
    }
}
