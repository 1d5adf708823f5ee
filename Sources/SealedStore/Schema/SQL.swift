import ObjectGraph

/// Rules of SQLite's language.
enum SQL {
    /// The end of a SELECT that returns a part of its rows, with the values of its parameters; empty for all rows.
    static func limit(_ limit: Int?, offset: Int) -> (text: String, parameters: [Value]) {
        guard limit != nil || offset > 0 else { return ("", []) }
        // SQLite does not allow OFFSET without LIMIT. A negative limit means no limit.
        return (" LIMIT ? OFFSET ?", [.integer(Int64(limit ?? -1)), .integer(Int64(offset))])
    }

    /// Conditions with AND or OR between them, in parentheses.
    ///
    /// SQLite's parser nests a chain of operators from the left, and limits the depth of an expression to 1,000. A long
    /// chain is therefore split into halves.
    static func joined(_ conditions: some RandomAccessCollection<String>, by operation: String) -> String {
        guard conditions.count > 64 else { return "(\(conditions.joined(separator: " \(operation) ")))" }
        let half = conditions.count / 2
        let (first, second) = (joined(conditions.prefix(half), by: operation), conditions.dropFirst(half))
        return "(\(first) \(operation) \(joined(second, by: operation)))"
    }

    // SQLite reads bytes. A quotation mark and a combining character behind it are one Swift `Character`, which is not
    // equal to the mark, so quotation marks are sought among the bytes.

    /// A quoted identifier, which may contain any character except NUL.
    static func quoted(_ name: String) -> String { enclosed(name, in: UInt8(ascii: "\"")) }

    /// A string literal, which may contain any character except NUL.
    static func literal(_ text: String) -> String { enclosed(text, in: UInt8(ascii: "'")) }

    private static func enclosed(_ text: String, in mark: UInt8) -> String {
        var bytes = [mark]
        bytes.reserveCapacity(text.utf8.count + 2)
        for byte in text.utf8 {
            bytes.append(byte)
            if byte == mark { bytes.append(mark) }
        }
        bytes.append(mark)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The name that a quoted identifier denotes.
    static func unquoted(_ identifier: String) -> String { nameOfObject(madeBy: identifier) }

    /// The name of the object that one of the store's statements creates: the first quoted identifier.
    static func nameOfObject(madeBy statement: String) -> String {
        let mark = UInt8(ascii: "\"")
        var name: [UInt8] = []
        var rest = statement.utf8.drop { $0 != mark }.dropFirst()
        while let byte = rest.popFirst() {
            if byte == mark {
                guard rest.first == mark else { break }
                rest.removeFirst()
            }
            name.append(byte)
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// A name that SQLite accepts, and that does not collide with the store's names, which begin with an underscore.
    static func legalName(_ name: String) -> String {
        let name = withoutNulls(name)
        let isReserved =
            name.isEmpty || name.utf8.first == UInt8(ascii: "_") || foldedName(name).utf8.starts(with: "sqlite_".utf8)
        return isReserved ? "x" + name : name
    }

    /// A name without its NUL characters: SQLite would end the name at the first of them.
    static func withoutNulls(_ name: String) -> String {
        name.utf8.contains(0) ? String(decoding: name.utf8.filter { $0 != 0 }, as: UTF8.self) : name
    }

    /// A name in the form in which SQLite compares names: ASCII letters in lower case, all other characters unchanged.
    static func foldedName(_ name: String) -> String {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(decoding: name.utf8.lazy.map { capitals.contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }

    /// The given number of parameters, separated by commas.
    static func parameters(_ count: Int) -> String {
        Array(repeating: "?", count: count).joined(separator: ", ")
    }
}
