import EncryptedSQLite
import ObjectGraph

/// The expected objects of a store's schema, for comparison with the schema of a file.
///
/// A foreign trigger could change or lose saved values, and a view in place of a table could invent rows; both run in
/// every program that opens the file. Therefore every object must be known: tables, views and triggers by their whole
/// statements, the store's indexes by their columns and conditions. Further indexes of its tables are harmless unless
/// they are unique. SQLite checks its own tables and the shadow tables of virtual tables.
struct ExpectedSchema: Sendable {
    /// The statements that create tables, views and triggers.
    private var statements: Set<String> = []
    /// The names of indexes by the statements that create them, without the names.
    private var indexes: [IndexDefinition: String] = [:]
    /// The statements that create the store's tables, by the folded names of the tables.
    private var tableStatements: [String: String] = [:]
    /// The tables in which virtual tables store their content.
    private var shadowTables: Set<String> = []
    /// The folded names of the store's tables.
    private var tables: Set<String> = []

    private struct IndexDefinition: Hashable {
        let isUnique: Bool
        /// The part of the statement after ON.
        let target: String
    }

    /// The statements that create the tables of features that not every store uses.
    private static let optionalTables = Set(StoreFeatures.tables.filter { !$0.isInEveryStore }.map(\.creation))

    static let tableBeginning = "CREATE TABLE "
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

    /// The differences between the schema of a file and the expected one.
    struct Differences {
        /// An object that is not expected, or differs from the expected one.
        struct ForeignObject {
            /// "table", "index", "view" or "trigger".
            let type: String
            let name: String
        }

        /// In the order of the file's schema.
        fileprivate(set) var foreign: [ForeignObject] = []
        /// The statements that create the missing tables, views and triggers, sorted.
        fileprivate(set) var missing: [String] = []
        /// The names of the missing indexes, sorted.
        fileprivate(set) var missingIndexes: [String] = []

        /// The name of the first object that is missing or foreign; nil if the schemas are equal.
        var firstObject: String? {
            foreign.first?.name ?? missing.first.map(SQL.nameOfObject) ?? missingIndexes.first
        }
    }

    /// Compares the schema of a connection's file with the expected one.
    ///
    /// - Throws: ``SealedStoreError/foreignSchema(object:)`` with the first object that is missing or foreign.
    func compare(on connection: Connection) throws {
        if let name = try differences(on: connection).firstObject {
            throw SealedStoreError.foreignSchema(named: name)
        }
    }

    /// The differences between the schema of a connection's file and the expected one.
    func differences(on connection: Connection) throws -> Differences {
        var differences = Differences()
        var missing = statements
        var missingIndexes = indexes
        try connection.withUncachedStatement(SchemaText.sql) { row in
            while try row.step() {
                let (type, name, table) = (row.string(at: 0), row.string(at: 1), row.string(at: 2))
                guard !row.isNull(at: 3) else {
                    // SQLite's index of a primary key has no statement.
                    if type != "index" { differences.foreign.append(.init(type: type, name: name)) }
                    continue
                }
                let statement = row.string(at: 3)
                if missing.remove(statement) != nil { continue }
                // The metadata say whether a file has these tables.
                if Self.optionalTables.contains(statement) { continue }
                switch type {
                case "index":
                    if let definition = Self.definition(of: statement, name),
                        missingIndexes.removeValue(forKey: definition) != nil
                    {
                        continue
                    }
                    if statement.hasPrefix(Self.indexBeginning), tables.contains(SQL.foldedName(table)) { continue }
                case "table":
                    let folded = SQL.foldedName(name)
                    // A migration may leave the columns in an order other than the model's.
                    if let expected = tableStatements[folded], missing.contains(expected),
                        let expectedTable = TableDefinition(expected), let table = TableDefinition(statement),
                        expectedTable.isEquivalent(to: table)
                    {
                        missing.remove(expected)
                        continue
                    }
                    if shadowTables.contains(folded) || folded.hasPrefix("sqlite_") { continue }
                default: break
                }
                differences.foreign.append(.init(type: type, name: name))
            }
        }
        differences.missing = missing.sorted()
        differences.missingIndexes = missingIndexes.values.sorted()
        return differences
    }

    /// The definition of an index without its name; nil for another statement.
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

extension SealedStoreError {
    /// The length of an object's name in an error: a hostile file can have names of any length.
    static let longestObjectName = 100

    /// The error for an object of a file's schema.
    static func foreignSchema(named name: String) -> SealedStoreError {
        .foreignSchema(object: String(name.prefix(longestObjectName)))
    }
}
