import SealedData
import Terminal

/// The passphrase that the demo's store is encrypted with.
struct DemoPassphrase {
    /// The demo's own passphrase, which is no secret.
    static let standard = "correct horse battery staple"

    private let bytes: [UInt8]

    /// Takes the passphrase from the environment, from the person at the terminal if asked to, or the demo's own.
    ///
    /// - Throws: `PassphraseError` where nobody can be asked.
    init(asks: Bool) throws {
        bytes = try asks ? Passphrase.ask() : Passphrase.fromEnvironment ?? Array(Self.standard.utf8)
    }

    var key: EncryptionKey { .passphrase(bytes) }

    /// A key that differs in one byte at the end.
    var wrongKey: EncryptionKey { .passphrase(bytes + [UInt8(ascii: "r")]) }

    /// Whether it is the demo's own.
    var isStandard: Bool { bytes == Array(Self.standard.utf8) }
}
