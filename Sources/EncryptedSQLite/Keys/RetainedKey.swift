import CSQLCipher

/// The key of an open database, as the program gave it, for files that have another salt: the copies of the database, and
/// a file that takes its place while it is suspended.
///
/// SQLCipher derives the key of a file from the passphrase and the salt of the file. A copy with the salt of its source
/// would take a log of the source for its own, so that each copy has a fresh salt, and needs the passphrase. The
/// connections use the derived key.
///
/// The passphrase is masked: its bytes are in memory only while a key is derived. A reader of all of the process's memory
/// can compute them, as it can find the derived key; a reader of a part of it cannot.
struct RetainedKey: Sendable {
    private enum Material: Sendable {
        case passphrase(MaskedBytes, KeyDerivation)
        case raw(SecretBytes, salt: [UInt8]?)
    }

    private let material: Material
    private let headerSalt: [UInt8]?

    init(_ key: EncryptionKey) throws(DatabaseError) {
        headerSalt = key.headerSalt
        material =
            switch key.material {
            case .passphrase(let bytes, let derivation): .passphrase(try MaskedBytes(bytes), derivation)
            case .raw(let bytes, let salt): .raw(bytes, salt: salt)
            }
    }

    /// The key. A passphrase in it is a copy, which is overwritten when it is released.
    var key: EncryptionKey {
        switch material {
        case .passphrase(let bytes, let derivation):
            EncryptionKey(material: .passphrase(bytes.unmasked, derivation), headerSalt: headerSalt)
        case .raw(let bytes, let salt):
            EncryptionKey(material: .raw(bytes, salt: salt), headerSalt: headerSalt)
        }
    }
}

/// Bytes that are stored as two sequences, neither of which reveals them: random bytes, and the difference from these.
private struct MaskedBytes: Sendable {
    private let mask: SecretBytes
    private let masked: SecretBytes

    init(_ bytes: SecretBytes) throws(DatabaseError) {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        mask = try SecretBytes(count: bytes.count) { (output) throws(DatabaseError) in
            guard RAND_bytes(output.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(output.count)) == 1 else {
                throw .cipherUnavailable(reason: "the random number generator failed")
            }
        }
        masked = Self.difference(bytes, mask)
    }

    var unmasked: SecretBytes { Self.difference(masked, mask) }

    private static func difference(_ first: SecretBytes, _ second: SecretBytes) -> SecretBytes {
        SecretBytes(count: first.count) { output in
            first.withUnsafeBytes { first in
                second.withUnsafeBytes { second in
                    for index in output.indices { output[index] = first[index] ^ second[index] }
                }
            }
        }
    }
}
