import Foundation
import SealedData
import Terminal

/// The passphrase that the demo's store is encrypted with.
struct DemoPassphrase {
    /// The demo's default passphrase, which is not secret.
    static let standard = "correct horse battery staple"

    /// The key.
    let key: EncryptionKey
    /// Whether it is the default passphrase.
    let isStandard: Bool

    /// A key that opens no store.
    let wrongKey = EncryptionKey.passphrase("wrong \(UUID().uuidString)")

    /// Takes the passphrase from the environment, which loses it, or, if `asks` is true, from the terminal; otherwise
    /// uses the default passphrase.
    ///
    /// - Throws: `PassphraseError` if the terminal cannot be used; `KeyProviderError`.
    init(asks: Bool) throws {
        isStandard = !asks && getenv(Passphrase.variable) == nil
        if asks {
            key = .passphrase(try Passphrase.ask())
        } else if isStandard {
            key = .passphrase(Self.standard)
        } else {
            key = try KeyProvider.environment(Passphrase.variable, isRemoved: true).key()
        }
    }
}
