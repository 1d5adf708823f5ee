import ObjectGraph

/// Rules of SQLite's language.
enum SQL {
    /// The end of a SELECT that returns only some of its rows, with the values of its parameters; empty for all rows.
    static func limit(_ limit: Int?, offset: Int) -> (text: String, parameters: [Value]) {
        guard limit != nil || offset > 0 else { return ("", []) }
        // OFFSET cannot stand without LIMIT; a negative limit is none.
        return (" LIMIT ? OFFSET ?", [.integer(Int64(limit ?? -1)), .integer(Int64(offset))])
    }

    /// An identifier between quotes, which may then hold any character but NUL.
    static func quoted(_ name: String) -> String {
        let quote = UInt8(ascii: "\"")
        return name.utf8.contains(quote) ? "\"\(name.replacing("\"", with: "\"\""))\"" : "\"\(name)\""
    }

    /// What an identifier between quotes stands for.
    static func unquoted(_ identifier: String) -> String {
        String(identifier.dropFirst().dropLast()).replacing("\"\"", with: "\"")
    }

    /// The name of the object that a statement of the store's own makes: its first identifier between quotes.
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

    /// A name that SQLite takes and that does not look like one of the store's own, which begin with an underscore.
    static func legalName(_ name: String) -> String {
        let name = withoutNulls(name)
        let isReserved = name.isEmpty || name.hasPrefix("_") || foldedName(name).hasPrefix("sqlite_")
        return isReserved ? "x" + name : name
    }

    /// A name without its null characters, with which SQLite would take it for shorter.
    static func withoutNulls(_ name: String) -> String { name.utf8.contains(0) ? name.replacing("\0", with: "") : name }

    /// A name in the form in which SQLite compares names: ASCII letters in lower case, others as they are.
    static func foldedName(_ name: String) -> String {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(decoding: name.utf8.lazy.map { capitals.contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }

    /// As many parameters, separated by commas.
    static func parameters(_ count: Int) -> String {
        Array(repeating: "?", count: count).joined(separator: ", ")
    }
}
