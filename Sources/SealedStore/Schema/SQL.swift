import ObjectGraph

/// Rules of SQLite's language.
enum SQL {
    /// The end of a SELECT that returns a part of its rows, with the values of its parameters; empty for all rows.
    static func limit(_ limit: Int?, offset: Int) -> (text: String, parameters: [Value]) {
        guard limit != nil || offset > 0 else { return ("", []) }
        // SQLite does not allow OFFSET without LIMIT. A negative limit means no limit.
        return (" LIMIT ? OFFSET ?", [.integer(Int64(limit ?? -1)), .integer(Int64(offset))])
    }

    /// A quoted identifier, which may contain any character except NUL.
    static func quoted(_ name: String) -> String {
        let quote = UInt8(ascii: "\"")
        return name.utf8.contains(quote) ? "\"\(name.replacing("\"", with: "\"\""))\"" : "\"\(name)\""
    }

    /// The name that a quoted identifier denotes.
    static func unquoted(_ identifier: String) -> String {
        String(identifier.dropFirst().dropLast()).replacing("\"\"", with: "\"")
    }

    /// The name of the object that one of the store's statements creates: the first quoted identifier.
    static func nameOfObject(madeBy statement: String) -> String {
        var name = ""
        var rest = statement.drop { $0 != "\"" }.dropFirst()
        while let character = rest.popFirst() {
            if character == "\"" {
                guard rest.first == "\"" else { break }
                rest.removeFirst()
            }
            name.append(character)
        }
        return name
    }

    /// A name that SQLite accepts, and that does not collide with the store's names, which begin with an underscore.
    static func legalName(_ name: String) -> String {
        let name = withoutNulls(name)
        let isReserved = name.isEmpty || name.hasPrefix("_") || foldedName(name).hasPrefix("sqlite_")
        return isReserved ? "x" + name : name
    }

    /// A name without its NUL characters, at the first of which SQLite would end it.
    static func withoutNulls(_ name: String) -> String { name.utf8.contains(0) ? name.replacing("\0", with: "") : name }

    /// A name in the form in which SQLite compares names: ASCII letters in lower case, others unchanged.
    static func foldedName(_ name: String) -> String {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(decoding: name.utf8.lazy.map { capitals.contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }

    /// The given number of parameters, separated by commas.
    static func parameters(_ count: Int) -> String {
        Array(repeating: "?", count: count).joined(separator: ", ")
    }
}
