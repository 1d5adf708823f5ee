import ObjectGraph

/// An FTS5 table over text columns, for searches by words.
///
/// It stores no texts but reads them from its table through a view. Triggers in the file update it, also for other
/// programs that write.
struct FullTextIndex: Sendable {
    /// The suffix of the name of the view through which the texts are read.
    static let textSuffix = "_text"
    /// The suffix of the name of the index of rows with a text beyond ``FoldableText`` in the column at a position.
    static func otherSuffix(_ position: Int) -> String { "_other\(position)" }

    /// The virtual table, quoted.
    let table: String
    let indexed: IndexedTable
    let options: FullTextOptions

    private let name: String

    init(name: String, _ indexed: IndexedTable, _ options: FullTextOptions) {
        self.name = name
        self.indexed = indexed
        self.options = options
        table = SQL.quoted(name)
    }

    /// The view with the texts by key, quoted.
    var view: String { SQL.quoted(name + Self.textSuffix) }

    /// The table in which FTS5 stores the lengths of the texts, quoted. It has one row for each row in the index.
    var lengths: String { SQL.quoted(name + "_docsize") }

    /// The table in which FTS5 stores its settings, quoted.
    var settings: String { SQL.quoted(name + "_config") }

    /// The names of the tables in which FTS5 stores the index.
    var shadowTables: [String] { ["_data", "_idx", "_docsize", "_config"].map { name + $0 } }

    /// The name of a column in the virtual table. An attribute's name could collide with FTS5's own names.
    static func column(_ position: Int) -> String { "c\(position)" }

    /// The position of an attribute among the columns.
    func position(of property: Property) -> Int? { indexed.columns.firstIndex { $0.property == property } }

    // MARK: Statements

    var creation: [String] {
        let columns = indexed.columns.enumerated().map { "\($1.name) AS \(Self.column($0))" }
        let ofTable = indexed.conditions(on: indexed.table).joined(behind: "WHERE")
        let deletion = #"SELECT 'delete', old."_id", \#(indexed.columnList(of: "old"))"#
        let insertion = #"SELECT new."_id", \#(indexed.columnList(of: "new"))"#
        let old = indexed.conditions(on: "old")
        let new = indexed.conditions(on: "new")
        let commands = "INSERT INTO \(table) (\(table), rowid, \(columnList))"
        let rows = "INSERT INTO \(table) (rowid, \(columnList))"
        return [
            #"CREATE VIEW \#(view) AS SELECT "_id", \#(columns.joined(separator: ", ")) FROM \#(indexed.table)\#(ofTable)"#,
            "CREATE VIRTUAL TABLE \(table) USING fts5(\(columnList), \(optionList))",
            """
            CREATE TRIGGER \(SQL.quoted(name + "_insert")) AFTER INSERT ON \(indexed.table)\(new.joined(behind: "WHEN")) \
            BEGIN \(rows) \(insertion); END
            """,
            """
            CREATE TRIGGER \(SQL.quoted(name + "_update")) AFTER UPDATE OF \(indexed.watchedColumns) ON \(indexed.table) \
            BEGIN \(commands) \(deletion)\(old.joined(behind: "WHERE")); \
            \(rows) \(insertion)\(new.joined(behind: "WHERE")); END
            """,
            """
            CREATE TRIGGER \(SQL.quoted(name + "_delete")) AFTER DELETE ON \(indexed.table)\(old.joined(behind: "WHEN")) \
            BEGIN \(commands) \(deletion); END
            """,
        ] + unfoldableIndexes
    }

    var population: [String] { ["INSERT INTO \(table) (\(table)) VALUES ('rebuild')"] }

    var removal: [String] {
        ["_insert", "_update", "_delete"].map { "DROP TRIGGER IF EXISTS \(SQL.quoted(name + $0))" }
            + ["DROP TABLE IF EXISTS \(table)", "DROP VIEW IF EXISTS \(view)"]
            + indexed.columns.indices.map { "DROP INDEX IF EXISTS \(unfoldableIndex($0))" }
    }

    private var columnList: String { indexed.columns.indices.map(Self.column).joined(separator: ", ") }

    private var optionList: String {
        var options = [
            "content = \(SQL.literal(name + Self.textSuffix))", "content_rowid = '_id'",
            "tokenize = '\(self.options.tokenizer.option)'",
        ]
        if !self.options.prefixLengths.isEmpty {
            options.append("prefix = '\(self.options.prefixLengths.map(String.init).joined(separator: " "))'")
        }
        return options.joined(separator: ", ")
    }

    // MARK: Texts beyond FoldableText

    /// The condition that a text contains characters beyond ``FoldableText``, or a NUL, at which FTS5 stops reading.
    func isUnfoldable(_ column: Column) -> String {
        "(\(column.name) GLOB '\(FoldableText.globOfOthers)' OR instr(\(column.name), char(0)) > 0)"
    }

    /// Conditions search for parts of words, which only trigrams find.
    private var unfoldableIndexes: [String] {
        guard options.tokenizer == .trigram else { return [] }
        return indexed.columns.enumerated().map { position, column in
            #"CREATE INDEX \#(unfoldableIndex(position)) ON \#(indexed.table) ("_id") WHERE \#(isUnfoldable(column))"#
        }
    }

    private func unfoldableIndex(_ position: Int) -> String { SQL.quoted(name + Self.otherSuffix(position)) }
}

extension FullTextTokenizer {
    fileprivate var option: String {
        switch self {
        case .unicode61: "unicode61 remove_diacritics 2"
        case .porter: "porter unicode61 remove_diacritics 2"
        case .trigram: "trigram case_sensitive 0 remove_diacritics 1"
        }
    }
}
