// Exported, so that an app that imports only this module can create keys. The other declarations stay hidden.
@_exported public import struct EncryptedSQLite.EncryptionKey
@_exported public import struct EncryptedSQLite.KeyDerivation
@_exported public import enum EncryptedSQLite.KeyFormat
@_exported public import struct EncryptedSQLite.KeyProvider
@_exported public import enum EncryptedSQLite.KeyProviderError
@_exported public import struct EncryptedSQLite.StoreFile
import Guarded

/// The key of an encrypted file: a passphrase or raw bytes.
public typealias EncryptionKey = EncryptedSQLite.EncryptionKey

extension EncryptionKey {
    private static let installedProvider = Guarded<(@Sendable (ModelConfiguration) throws -> EncryptionKey?)?>(nil)

    /// The function that supplies the key for each configuration without one.
    ///
    /// An app sets it once, before it creates containers. Code that specifies no key, such as code written for
    /// SwiftData, then uses encrypted stores:
    ///
    /// ```swift
    /// EncryptionKey.provider = { _ in .passphrase(try passphraseFromKeychain()) }
    /// ```
    ///
    /// The container calls the function once for each file that it opens, on the thread that opens the file, and
    /// rethrows its errors.
    public static var provider: (@Sendable (ModelConfiguration) throws -> EncryptionKey?)? {
        get { installedProvider.withLock { $0 } }
        set { installedProvider.replace(\.self, with: newValue) }
    }
}
