/// The columns of a `CREATE TABLE` statement that a store has written.
///
/// Columns that were added later follow all other columns, before a primary key of several columns. They may have a
/// `DEFAULT` clause with a literal, which is the value for earlier rows.
struct TableDefinition {
    /// The statement up to the opening parenthesis of the columns.
    private let beginning: Substring
    /// The definitions of the columns and of the primary key, without separators.
    private(set) var columns: [Substring]
    /// The statement from the closing parenthesis of the columns.
    private let end: Substring

    private static let defaultKeyword = " DEFAULT "
    private static let primaryKeyBeginning = "PRIMARY KEY ("

    /// - Returns: Nil if the statement has no list of columns.
    init?(_ statement: String) {
        let bytes = statement.utf8
        var columns: [Substring] = []
        var quote: UInt8?
        var depth = 0
        var start: String.Index?
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
                case UInt8(ascii: "("):
                    depth += 1
                    if depth == 1 { start = bytes.index(after: index) }
                case UInt8(ascii: ",") where depth == 1:
                    if let first = start { columns.append(Self.trimmed(statement[first..<index])) }
                    start = bytes.index(after: index)
                case UInt8(ascii: ")"):
                    depth -= 1
                    guard depth == 0, let first = start, let open = Self.firstParenthesis(of: statement) else { break }
                    columns.append(Self.trimmed(statement[first..<index]))
                    beginning = statement[...open]
                    self.columns = columns
                    end = statement[index...]
                    return
                default: break
                }
            }
            index = bytes.index(after: index)
        }
        return nil
    }

    private static func firstParenthesis(of statement: String) -> String.Index? {
        var isQuoted = false
        return statement.utf8.indices.first { index in
            if statement.utf8[index] == UInt8(ascii: "\"") { isQuoted.toggle() }
            return !isQuoted && statement.utf8[index] == UInt8(ascii: "(")
        }
    }

    private static func trimmed(_ text: Substring) -> Substring { text.drop { $0 == " " } }

    /// The statement.
    var statement: String { beginning + columns.joined(separator: ", ") + end }

    /// Adds the definition of a column.
    mutating func add(_ column: String) {
        let position = columns.firstIndex { $0.hasPrefix(Self.primaryKeyBeginning) } ?? columns.endIndex
        columns.insert(Substring(column), at: position)
    }

    /// Whether a column has a `DEFAULT` clause with a literal.
    func hasDefault(_ name: String) -> Bool {
        columns.contains { $0.hasPrefix(name + " ") && Self.withoutDefault($0) != nil }
    }

    /// The literal that is the value of a column, with a quoted name, in rows that are older than the column; nil for a
    /// column without such a literal.
    func defaultLiteral(of name: String) -> Substring? {
        guard let column = columns.first(where: { $0.hasPrefix(name + " ") }), let plain = Self.withoutDefault(column)
        else { return nil }
        return column[plain.endIndex...].dropFirst(Self.defaultKeyword.count)
    }

    /// Whether a table differs from this one only in the order of its columns and in default values.
    func isEquivalent(to table: TableDefinition) -> Bool {
        guard beginning == table.beginning, end == table.end, columns.count == table.columns.count else { return false }
        var missing = Set(columns)
        for column in table.columns where missing.remove(column) == nil {
            guard let plain = Self.withoutDefault(column), missing.remove(plain) != nil else { return false }
        }
        return missing.isEmpty
    }

    /// The definition of a column without its `DEFAULT` clause; nil if it has no such clause, or if its value is not a
    /// literal.
    private static func withoutDefault(_ column: Substring) -> Substring? {
        // The clause is sought after the name, which may contain the keyword.
        let mark = UInt8(ascii: "\"")
        var rest = column.utf8.dropFirst()
        while let quote = rest.firstIndex(of: mark) {
            rest = rest[rest.index(after: quote)...]
            guard rest.first == mark else { break }
            rest = rest.dropFirst()
        }
        guard let clause = rest.firstRange(of: defaultKeyword.utf8), isLiteral(rest[clause.upperBound...]) else {
            return nil
        }
        return column[..<clause.lowerBound]
    }

    private static func isLiteral(_ text: Substring.UTF8View) -> Bool {
        let mark = UInt8(ascii: "'")
        var rest = text.first == UInt8(ascii: "x") ? text.dropFirst() : text
        guard rest.popFirst() == mark else {
            return !text.isEmpty
                && text.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit || "+-.".utf8.contains($0) }
        }
        while let byte = rest.popFirst() {
            guard byte == mark else { continue }
            if rest.isEmpty { return true }
            guard rest.popFirst() == mark else { return false }
        }
        return false
    }
}
