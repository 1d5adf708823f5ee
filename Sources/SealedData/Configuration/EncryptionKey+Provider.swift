// Exported, so that an app that imports only this module can make keys; the rest of that module stays hidden.
@_exported public import struct EncryptedSQLite.EncryptionKey
import Guarded

/// The key of an encrypted file: a passphrase or raw bytes.
public typealias EncryptionKey = EncryptedSQLite.EncryptionKey

extension EncryptionKey {
    private static let installedProvider = Guarded<(@Sendable (ModelConfiguration) throws -> EncryptionKey?)?>(nil)

    /// Gives keys to containers whose configuration has none.
    ///
    /// An app installs it once, before it makes containers, so that code which names no key, such as code written for
    /// SwiftData, finds its stores encrypted:
    ///
    /// ```swift
    /// EncryptionKey.provider = { _ in .passphrase(try passphraseFromKeychain()) }
    /// ```
    ///
    /// It is called once per file that is opened, on the thread that opens it; what it throws, the container throws.
    public static var provider: (@Sendable (ModelConfiguration) throws -> EncryptionKey?)? {
        get { installedProvider.withLock { $0 } }
        set { installedProvider.withLock { $0 = newValue } }
    }
}
