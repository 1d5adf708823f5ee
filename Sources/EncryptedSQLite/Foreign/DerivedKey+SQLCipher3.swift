import CSQLCipher

extension DerivedKey {
    /// SQLCipher 3's number of rounds.
    private static var rounds: Int32 { 64_000 }

    /// Derives the key of a file in the format of SQLCipher 3: PBKDF2 with HMAC-SHA1 for a passphrase.
    init(sqlCipher3 key: EncryptionKey, fileSalt: [UInt8]) throws(DatabaseError) {
        switch key.material {
        case .raw(let bytes, let salt):
            self.init(bytes: bytes, salt: salt ?? fileSalt)
        case .passphrase(let passphrase, _):
            guard passphrase.count > 0 else { throw .invalidKey(.emptyPassphrase) }
            try ExitGate.enter()
            defer { ExitGate.leave() }
            let bytes = try SecretBytes(count: Self.byteCount) { (output) throws(DatabaseError) in
                let result = passphrase.withUnsafeBytes { secret in
                    PKCS5_PBKDF2_HMAC(
                        secret.baseAddress?.assumingMemoryBound(to: CChar.self),
                        Int32(clamping: secret.count),
                        fileSalt,
                        Int32(fileSalt.count),
                        Self.rounds,
                        EVP_sha1(),
                        Int32(output.count),
                        output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    )
                }
                guard result == 1 else { throw .cipherUnavailable(reason: "the key derivation failed") }
            }
            self.init(bytes: bytes, salt: fileSalt)
        }
    }
}
