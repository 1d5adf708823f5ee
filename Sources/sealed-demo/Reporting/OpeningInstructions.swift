import Foundation
import Terminal

/// Instructions for opening a store with other tools.
struct OpeningInstructions {
    let store: URL
    /// Whether the passphrase is the demo's default, which is not secret.
    let showsPassphrase: Bool
    /// The number of packages that a count should return.
    let packageCount: Int

    func printAll() throws {
        let path = Self.quotedForShell(store.path(percentEncoded: false))
        // The shell substitutes a secret passphrase, so that it is neither printed nor typed.
        let passphrase = showsPassphrase ? DemoPassphrase.standard : "$\(Passphrase.variable)"
        let statements = #"PRAGMA key = '\#(passphrase)'; SELECT count(*) FROM \"Package\";"#
        try Output.print("  sqlcipher \(path) \"\(statements)\"")
        try Output.print("      returns \(packageCount), the number of packages")
        try Output.print("  sqlite3 \(path) .tables")
        try Output.print("      fails: without its key the file is not a database")
    }

    /// Returns the text as one word of a POSIX shell.
    static func quotedForShell(_ text: String) -> String {
        let plain = text.utf8.allSatisfy { byte in
            (byte >= 0x30 && byte <= 0x39) || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A) || "/._-".utf8.contains(byte)
        }
        return plain ? text : "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
