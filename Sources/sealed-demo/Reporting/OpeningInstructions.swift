import Foundation
import Terminal

/// Tells how to open a store with other tools.
struct OpeningInstructions {
    let store: URL
    /// Whether the passphrase is the demo's own, which is no secret.
    let showsPassphrase: Bool
    /// How many packages a count has to give.
    let packageCount: Int

    func printAll() {
        let path = Self.quotedForShell(store.path(percentEncoded: false))
        // The shell puts a passphrase of one's own in, so that it is neither printed nor typed.
        let passphrase = showsPassphrase ? DemoPassphrase.standard : "$\(Passphrase.variable)"
        let statements = #"PRAGMA key = '\#(passphrase)'; SELECT count(*) FROM \"Package\";"#
        print("  sqlcipher \(path) \"\(statements)\"")
        print("      answers \(packageCount), the number of packages")
        print("  sqlite3 \(path) .tables")
        print("      refuses: the file is not a database without its key")
    }

    /// The text as one word of a POSIX shell.
    static func quotedForShell(_ text: String) -> String {
        let plain = text.utf8.allSatisfy { byte in
            (byte >= 0x30 && byte <= 0x39) || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A) || "/._-".utf8.contains(byte)
        }
        return plain ? text : "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
