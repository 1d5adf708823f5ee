import EncryptedSQLite

/// The name of a table or a column, compared as SQLite compares names: byte by byte, without regard to the case of
/// ASCII letters.
///
/// Strings of Swift are equal if their characters are, so that a composed and a decomposed `É` would be one column.
struct DatabaseName: Hashable, ExpressibleByStringLiteral {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    init(stringLiteral text: String) {
        self.text = text
    }

    /// The name between quotes, which SQLite takes for an identifier.
    var quoted: String { "\"" + text.replacing("\"", with: "\"\"") + "\"" }

    /// Whether the name is reserved for SQLite's own tables.
    var isReserved: Bool { text.utf8.prefix(7).elementsEqual("sqlite_".utf8) { Self.folded($0) == $1 } }

    static func == (left: DatabaseName, right: DatabaseName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8) { folded($0) == folded($1) }
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(Self.folded(byte)) }
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
    }
}

/// A name between quotes, which SQLite takes for an identifier.
func quoted(_ name: String) -> String { DatabaseName(name).quoted }

extension Statement {
    /// The name in a column of the current row.
    ///
    /// - Throws: ``TransferError/unsupported(_:)`` for bytes that are not UTF-8: no statement can contain them.
    func name(at index: Int32) throws -> DatabaseName {
        guard let text = String(validating: text(at: index), as: UTF8.self) else {
            throw TransferError.unsupported("a database with a name that is not UTF-8")
        }
        return DatabaseName(text)
    }
}
