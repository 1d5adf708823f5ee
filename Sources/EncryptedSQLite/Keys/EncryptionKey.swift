/// What opens an encrypted database: a passphrase, or a key of 32 bytes.
///
/// The bytes live in memory of their own, which is overwritten when the last copy of the key goes away; they appear in
/// no description, mirror or error. A `String` or array that a key was made from is the program's own to look after:
/// Swift cannot overwrite those, so read secrets into a buffer where that matters.
public struct EncryptionKey: Sendable {
    enum Material: Sendable {
        case passphrase(SecretBytes)
        case raw(SecretBytes, salt: [UInt8]?)
    }

    let material: Material

    /// A passphrase: the UTF-8 bytes of a text, as they are, without Unicode normalisation.
    ///
    /// Any text will do, in any language; one that looks like SQLCipher's notation for raw keys (`x'…'`) is a passphrase
    /// like any other. The database opens with the same passphrase in every tool that knows SQLCipher 4.
    ///
    /// Opening a database throws `DatabaseError.invalidKey` for an empty passphrase, and for one of at most 128 bytes that
    /// ends with zero bytes: SQLCipher's key derivation (PBKDF2 with HMAC-SHA512) fills passphrases up with zero bytes, so
    /// that the same passphrase without them opens the same files. A file that another tool made with such a passphrase
    /// opens without its zero bytes; one whose passphrase has no other bytes opens with the derived key as a raw key only.
    /// A passphrase of more than 128 bytes opens the same files as its SHA-512 hash does, as a passphrase of 64 bytes.
    public static func passphrase(_ text: String) -> EncryptionKey {
        EncryptionKey(material: .passphrase(SecretBytes(copying: text.utf8)))
    }

    /// A passphrase made of any bytes, with zero bytes anywhere but at the end.
    ///
    /// Which passphrases are refused, and which open the same files, is said at the function of the same name for texts.
    public static func passphrase(_ bytes: some Sequence<UInt8>) -> EncryptionKey {
        EncryptionKey(material: .passphrase(SecretBytes(copying: bytes)))
    }

    /// A raw key of 32 bytes, used without derivation. Opening is about a thousand times faster than with a passphrase.
    ///
    /// The bytes must be random, for example made by a system's key store. Throws `DatabaseError.invalidKey` for another
    /// length.
    public static func raw(_ key: some Sequence<UInt8>) throws -> EncryptionKey {
        try raw(key, salt: [UInt8]?.none)
    }

    /// A raw key of 32 bytes with the salt of 16 bytes that a new file will begin with.
    ///
    /// Without a salt, a new file gets a random one, and an existing file's own is read from it. Throws
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
    /// A text without the key.
    public var description: String { "EncryptionKey(redacted)" }

    /// A text without the key.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
