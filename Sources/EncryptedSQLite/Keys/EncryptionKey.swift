/// The key to an encrypted database: a passphrase, or a raw key of 32 bytes.
///
/// The bytes are in separate memory, which is overwritten when the last copy of the key is released. They appear in no
/// description, mirror or error. The program is responsible for the `String` or array from which it creates a key:
/// Swift cannot overwrite those. Read secrets into a buffer if that matters.
public struct EncryptionKey: Sendable {
    enum Material: Sendable {
        case passphrase(SecretBytes, KeyDerivation)
        case raw(SecretBytes, salt: [UInt8]?)
    }

    let material: Material
    /// The salt of a file with a plaintext header; nil for a file that begins with its salt.
    let headerSalt: [UInt8]?

    init(material: Material, headerSalt: [UInt8]? = nil) {
        self.material = material
        self.headerSalt = headerSalt
    }

    /// A passphrase: the UTF-8 bytes of a text, without Unicode normalisation.
    ///
    /// Any text is valid, in any language. A text that looks like SQLCipher's notation for raw keys (`x'…'`) is an
    /// ordinary passphrase. Every tool that supports SQLCipher 4 opens the database with the same passphrase.
    ///
    /// Opening a database throws `DatabaseError.invalidKey` for an empty passphrase, and for a passphrase of at most
    /// 128 bytes that ends with zero bytes: SQLCipher's key derivation (PBKDF2 with HMAC-SHA512) pads passphrases with
    /// zero bytes, so the same passphrase without them opens the same files. If another tool created a file with such a
    /// passphrase, the passphrase without its zero bytes opens it; if it consists of zero bytes only, only the derived
    /// key opens the file, as a raw key. A passphrase of more than 128 bytes opens the same files as its SHA-512 hash
    /// does, as a passphrase of 64 bytes.
    ///
    /// - Parameters:
    ///   - text: The passphrase.
    ///   - derivation: The function that derives the key. With any other than the standard one, other tools need the
    ///     derived key.
    public static func passphrase(_ text: String, derivation: KeyDerivation = .standard) -> EncryptionKey {
        EncryptionKey(material: .passphrase(SecretBytes(copying: text.utf8), derivation))
    }

    /// A passphrase of arbitrary bytes, with zero bytes anywhere but at the end.
    ///
    /// The function of the same name for texts describes the refused passphrases, and the passphrases that open the
    /// same files.
    public static func passphrase(
        _ bytes: some Sequence<UInt8>,
        derivation: KeyDerivation = .standard
    ) -> EncryptionKey {
        EncryptionKey(material: .passphrase(SecretBytes(copying: bytes), derivation))
    }

    /// A raw key of 32 bytes, used without derivation. Opening is about a thousand times faster than with a passphrase.
    ///
    /// The bytes must be random, for example from a system's key store. Throws `DatabaseError.invalidKey` for another
    /// length.
    public static func raw(_ key: some Sequence<UInt8>) throws -> EncryptionKey {
        try raw(key, salt: [UInt8]?.none)
    }

    /// A raw key of 32 bytes with the salt of 16 bytes for the beginning of a new file.
    ///
    /// Without a salt, a new file gets a random one, and the salt of an existing file is read from it. Use a salt for
    /// one file only: files with the same key and salt cannot be distinguished from each other, so that a write-ahead
    /// log that remains beside a replaced file is applied to the new one. A backup under the key has the salt, too. Throws `DatabaseError.invalidKey` for other
    /// lengths.
    public static func raw(
        _ key: some Sequence<UInt8>,
        salt: (some Sequence<UInt8>)?
    ) throws -> EncryptionKey {
        let key = SecretBytes(copying: key)
        guard key.count == DerivedKey.byteCount else { throw DatabaseError.invalidKey(.rawKeyLength(key.count)) }
        let salt = salt.map { Array($0) }
        if let salt, salt.count != DerivedKey.saltByteCount {
            throw DatabaseError.invalidKey(.saltLength(salt.count))
        }
        return EncryptionKey(material: .raw(key, salt: salt))
    }

    /// The same key for files with a plaintext header: such a file begins with the same 32 bytes as an unencrypted
    /// SQLite database in WAL mode, and the program keeps the salt, with which other files begin.
    ///
    /// iOS recognises such a file as a database, and does not end an app that holds a lock on it in a shared container
    /// while it is suspended. A new file, also a backup and the file after a change of the key, has a plaintext header
    /// if its key has one. An existing file is recognised: this key opens files that begin with their salt, too.
    ///
    /// The header discloses that the file is a SQLite database of SQLCipher's page format, its number of pages, and the
    /// number of checkpoints that changed it. These bytes are not authenticated. Each connection checks them against
    /// their constants and the length of the file or its log, but does not notice when a writer without the key cuts
    /// pages off the end of the file and lowers the number of pages accordingly; later saves then mix content. Choose this
    /// layout only where no other program can write to the file.
    ///
    /// - Parameter salt: 16 random bytes, which are not secret. Without them no key opens the file: keep a copy with
    ///   each backup. Other tools need them, too (`PRAGMA cipher_salt`, and `PRAGMA cipher_plaintext_header_size = 32`).
    /// - Throws: `DatabaseError.invalidKey` for another length.
    public func withPlaintextHeader(salt: some Sequence<UInt8>) throws -> EncryptionKey {
        let salt = Array(salt)
        guard salt.count == DerivedKey.saltByteCount else { throw DatabaseError.invalidKey(.saltLength(salt.count)) }
        return EncryptionKey(material: material, headerSalt: salt)
    }

    /// The same key for files that begin with their salt.
    var withoutPlaintextHeader: EncryptionKey { EncryptionKey(material: material) }
}

extension EncryptionKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text that does not contain the key.
    public var description: String { "EncryptionKey(redacted)" }

    /// A text that does not contain the key.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
