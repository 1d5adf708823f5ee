/// One step of a migration.
public struct MigrationStep: Hashable, Sendable {
    /// The kinds of step.
    public enum Kind: String, Hashable, Sendable {
        /// Removes an index, or an index table with its triggers.
        case removeIndex
        /// Adds columns to a table, without reading its rows.
        case addColumns
        /// Renames columns, without reading rows.
        case renameColumns
        /// Renames a table, without reading its rows.
        case renameTable
        /// Creates an empty table.
        case createTable
        /// Rewrites all rows of a table.
        case rebuildTable
        /// Writes the pairs of a to-many relationship.
        case copyPairs
        /// Removes a table with its rows.
        case removeTable
        /// Deletes objects with the unique values of another object, by a ``DuplicateRule``.
        case mergeDuplicates
        /// Builds an index over the rows of a table.
        case buildIndex
        /// Records the new model in the store.
        case recordModel
    }

    /// The kind of step.
    public let kind: Kind
    /// The name of the entity; nil for a step that does not concern a single entity.
    public let entity: String?
    /// The names of the properties that the step concerns; empty for a whole entity.
    public let properties: [String]
    /// The statements, in order. The only values in them are literals of default values.
    public let sql: [String]
    /// The number of rows that the step writes; nil if it writes no rows, or if they have not been counted.
    public internal(set) var rows: Int?
    /// The statements of `sql` that copy rows in the order of their keys, and can therefore run for one range of keys
    /// at a time.
    let copies: [RowCopy]
    /// The table, quoted, and the definitions of its additional columns.
    let addition: TableAddition?
    /// The name of the index of another program that the step builds; nil for a step of another kind.
    let foreignIndex: String?

    /// The columns that are added to a table.
    struct TableAddition: Hashable, Sendable {
        let table: String
        let definitions: [String]
    }

    init(
        _ kind: Kind,
        _ entity: String? = nil,
        _ properties: [String] = [],
        _ sql: [String] = [],
        copies: [RowCopy] = []
    ) {
        self.kind = kind
        self.entity = entity
        self.properties = properties
        self.sql = sql + copies.map(\.sql)
        self.copies = copies
        addition = nil
        foreignIndex = nil
    }

    /// A step that builds the index of another program on a rebuilt table.
    init(rebuilding index: String, _ entity: String, _ properties: [String], _ statement: String) {
        kind = .buildIndex
        self.entity = entity
        self.properties = properties
        sql = [statement]
        copies = []
        addition = nil
        foreignIndex = index
    }

    /// A step that adds columns to a table.
    init(adding definitions: [String], to table: String, _ entity: String, _ properties: [String]) {
        kind = .addColumns
        self.entity = entity
        self.properties = properties
        sql = definitions.map { "ALTER TABLE \(table) ADD COLUMN \($0)" }
        copies = []
        addition = TableAddition(table: table, definitions: definitions)
        foreignIndex = nil
    }

    /// The statements that run once; empty if ``addition`` adds the columns, which the statements of `sql` only
    /// describe.
    var statements: ArraySlice<String> { addition == nil ? sql.dropLast(copies.count) : [] }
}

extension MigrationStep: CustomStringConvertible {
    /// The kind, entity and properties, and the number of rows if it is known.
    public var description: String {
        let action =
            switch kind {
            case .removeIndex: "remove index"
            case .addColumns: "add columns"
            case .renameColumns: "rename columns"
            case .renameTable: "rename table"
            case .createTable: "create table"
            case .rebuildTable: "rebuild table"
            case .copyPairs: "copy pairs"
            case .removeTable: "remove table"
            case .mergeDuplicates: "merge duplicates"
            case .buildIndex: "build index"
            case .recordModel: "record model"
            }
        let place = ([entity].compactMap(\.self) + properties).joined(separator: ".")
        return [action, place, rows.map { "(\($0) row(s))" } ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

/// A statement that inserts the rows of an old table into a new table.
struct RowCopy: Hashable, Sendable {
    /// The statement up to its conditions.
    let insertion: String
    /// The conditions on the rows.
    let conditions: [String]
    /// The old table, quoted.
    let table: String
    /// The alias of the old table in the statement.
    let alias: String
    /// The column of positive integers by which the old table is ordered, quoted: the primary key, or its first column.
    let key: String

    /// The old table with its alias.
    var source: String { "\(table) AS \(alias)" }

    var sql: String { insertion + conditions.joined(behind: "WHERE") }

    /// The statement for the range of keys between two parameters.
    var sqlForRange: String {
        insertion + (conditions + ["\(alias).\(key) > ?1 AND \(alias).\(key) <= ?2"]).joined(behind: "WHERE")
    }
}
