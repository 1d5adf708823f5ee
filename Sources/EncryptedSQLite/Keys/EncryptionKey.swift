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
    /// The function of the same name for texts describes the refused passphrases, and those that open the same files.
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
    /// Without a salt, a new file gets a random one, and the salt of an existing file is read from it. Throws
    /// `DatabaseError.invalidKey` for other lengths.
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
}

extension EncryptionKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text that does not contain the key.
    public var description: String { "EncryptionKey(redacted)" }

    /// A text that does not contain the key.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
