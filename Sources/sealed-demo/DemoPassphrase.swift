import SealedData
import Terminal

/// The passphrase that the demo's store is encrypted with.
struct DemoPassphrase {
    /// The demo's default passphrase, which is not secret.
    static let standard = "correct horse battery staple"

    private let bytes: [UInt8]

    /// Takes the passphrase from the environment or, if `asks` is true, from the terminal; otherwise the default one.
    ///
    /// - Throws: `PassphraseError` if the terminal cannot be used.
    init(asks: Bool) throws {
        bytes = try asks ? Passphrase.ask() : Passphrase.fromEnvironment ?? Array(Self.standard.utf8)
    }

    var key: EncryptionKey { .passphrase(bytes) }

    /// A key that differs by an additional byte at the end.
    var wrongKey: EncryptionKey { .passphrase(bytes + [UInt8(ascii: "r")]) }

    /// Whether it is the default passphrase.
    var isStandard: Bool { bytes == Array(Self.standard.utf8) }
}
