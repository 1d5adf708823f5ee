import EncryptedSQLite

/// An index that another program has added to a table. A rebuilt table keeps the index if the table still has all
/// columns that the statement of the index names: indexed columns, and columns in expressions and in the condition of a
/// partial index.
struct ForeignIndex {
    /// The name of the index.
    let name: String
    /// The table, quoted.
    let table: String
    /// The statement that created the index. SQLite begins it with `CREATE INDEX`, followed by the name.
    let statement: String

    /// The statement that creates the index on a new table, and the columns in the statement; nil if the table lacks a
    /// column.
    ///
    /// - Parameters:
    ///   - table: The new table, quoted.
    ///   - newColumns: The columns of the new table, by their names in the old table, all quoted.
    ///   - removed: The old columns that the new table no longer has, quoted.
    func creation(
        on table: String,
        _ newColumns: [String: String],
        removed: some Sequence<String>
    ) -> (sql: String, columns: [String])? {
        let new = Dictionary(
            newColumns.map { (SQL.foldedName(SQL.unquoted($0.key)), $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
        let removed = Set(removed.map { SQL.foldedName(SQL.unquoted($0)) })
        let tokens = SQLTokens(statement)
        // The five tokens are CREATE, INDEX, the name, ON and the table.
        guard let start = tokens.position(afterSignificant: 5) else { return nil }
        var sql = "CREATE INDEX \(SQL.quoted(name)) ON \(table)"
        var columns: [String] = []
        for (position, token) in tokens.all.enumerated().dropFirst(start) {
            guard let name = token.name, tokens.mayBeColumn(at: position) else {
                sql += token.text
                continue
            }
            let folded = SQL.foldedName(name)
            if removed.contains(folded) { return nil }
            if let column = new[folded] {
                sql += column
                if !columns.contains(column) { columns.append(column) }
            } else {
                sql += token.text
            }
        }
        return (sql, columns)
    }

    /// All indexes of a file that are not unique, including the indexes of the store.
    static func all(on connection: Connection) throws -> [ForeignIndex] {
        let sql = """
            SELECT name, tbl_name, sql FROM sqlite_schema \
            WHERE type = 'index' AND sql LIKE 'CREATE INDEX %' ORDER BY name
            """
        return try connection.withUncachedStatement(sql) { row in
            var indexes: [ForeignIndex] = []
            while try row.step() {
                indexes.append(
                    ForeignIndex(
                        name: row.string(at: 0),
                        table: SQL.quoted(row.string(at: 1)),
                        statement: row.string(at: 2)
                    )
                )
            }
            return indexes
        }
    }
}

/// The tokens of a statement, with the spaces and comments between them.
private struct SQLTokens {
    struct Token {
        let text: Substring
        /// The name that an identifier denotes; nil for other tokens and for keywords of expressions.
        let name: String?
        /// Whether the token is neither space nor a comment.
        let isSignificant: Bool
    }

    private(set) var all: [Token] = []

    /// The keywords that occur in the definition of an index. A column with such a name is quoted.
    private static let keywords: Set<String> = [
        "and", "as", "asc", "between", "case", "cast", "collate", "create", "desc", "distinct", "else", "end", "escape",
        "exists", "false", "from", "glob", "in", "index", "is", "isnull", "like", "match", "not", "notnull", "null",
        "on",
        "or", "regexp", "then", "true", "when", "where",
    ]

    init(_ statement: String) {
        var rest = Substring(statement)
        while let first = rest.unicodeScalars.first {
            let (length, name, isSignificant) = Self.token(at: first, rest)
            let end = rest.unicodeScalars.index(
                rest.startIndex,
                offsetBy: max(length, 1),
                limitedBy: rest.endIndex
            )
            all.append(Token(text: rest[..<(end ?? rest.endIndex)], name: name, isSignificant: isSignificant))
            rest = rest[(end ?? rest.endIndex)...]
        }
    }

    /// The length of the first token in Unicode scalars, and its kind.
    private static func token(at first: Unicode.Scalar, _ rest: Substring) -> (Int, String?, Bool) {
        let scalars = Array(rest.unicodeScalars.prefix { _ in true })
        switch first {
        case "'":
            return (quotedLength(scalars, "'"), nil, true)
        case "\"", "`":
            let length = quotedLength(scalars, first)
            return (length, content(scalars[..<length], first), true)
        case "[":
            let length = (scalars.firstIndex(of: "]") ?? scalars.count - 1) + 1
            return (length, content(scalars[..<length], nil), true)
        case "-" where scalars.dropFirst().first == "-":
            return (scalars.firstIndex(of: "\n") ?? scalars.count, nil, false)
        case "/" where scalars.dropFirst().first == "*":
            let end = scalars.indices.dropFirst(3).first { scalars[$0] == "/" && scalars[$0 - 1] == "*" }
            return ((end ?? scalars.count - 1) + 1, nil, false)
        case " ", "\t", "\n", "\r", "\u{c}":
            return (1, nil, false)
        case let scalar where isName(scalar):
            let length = scalars.firstIndex { !isName($0) } ?? scalars.count
            // A blob literal, such as x'00'.
            if length == 1, "xX".unicodeScalars.contains(scalar), scalars.dropFirst().first == "'" {
                return (1 + quotedLength(Array(scalars.dropFirst()), "'"), nil, true)
            }
            let word = String(String.UnicodeScalarView(scalars[..<length]))
            let isNumber = ("0"..."9").contains(scalar)
            return (length, isNumber || keywords.contains(SQL.foldedName(word)) ? nil : word, true)
        default:
            return (1, nil, true)
        }
    }

    private static func isName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
        default: scalar.value >= 0x80
        }
    }

    /// The length of a quoted token. A quote inside the token is doubled.
    private static func quotedLength(_ scalars: [Unicode.Scalar], _ quote: Unicode.Scalar) -> Int {
        var position = 1
        while position < scalars.count {
            if scalars[position] == quote {
                guard position + 1 < scalars.count, scalars[position + 1] == quote else { return position + 1 }
                position += 1
            }
            position += 1
        }
        return scalars.count
    }

    /// The content of a quoted identifier.
    private static func content(_ token: ArraySlice<Unicode.Scalar>, _ quote: Unicode.Scalar?) -> String {
        let text = String(String.UnicodeScalarView(token.dropFirst().dropLast()))
        guard let quote = quote.map(String.init) else { return text }
        return text.replacing(quote + quote, with: quote)
    }

    /// The position after the given number of significant tokens; nil if there are fewer.
    func position(afterSignificant count: Int) -> Int? {
        let positions = all.indices.filter { all[$0].isSignificant }
        return count <= positions.count ? positions[count - 1] + 1 : nil
    }

    /// Whether an identifier may be the name of a column: it does not name a function, a collation or a type.
    func mayBeColumn(at position: Int) -> Bool {
        let significant = { (token: Token) in token.isSignificant }
        if all[(position + 1)...].first(where: significant)?.text == "(" { return false }
        let before = all[..<position].filter(significant)
        guard let last = before.last else { return false }
        return !["collate", "as"].contains(SQL.foldedName(String(last.text)))
    }
}
