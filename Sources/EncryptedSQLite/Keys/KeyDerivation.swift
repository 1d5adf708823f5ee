import CSQLCipher

/// A function that derives the key of a file from a passphrase and the file's salt.
///
/// With ``standard``, every tool that reads SQLCipher 4 opens the file with the passphrase. With another function,
/// tools need the derived key, in SQLCipher's notation for raw keys. The file does not record the function: the program
/// has to open the file with the same parameters.
public struct KeyDerivation: Hashable, Sendable {
    enum Function: Hashable, Sendable {
        case pbkdf2(rounds: Int)
        case scrypt(cost: Int, blockSize: Int, parallelism: Int)
        case argon2id(kibibytes: Int, iterations: Int, lanes: Int)
    }

    let function: Function

    /// SQLCipher 4's function: PBKDF2 with HMAC-SHA512 and 256,000 rounds, about 0.1 seconds.
    public static let standard = pbkdf2(rounds: 256_000)

    /// PBKDF2 with HMAC-SHA512 (RFC 8018).
    ///
    /// - Parameter rounds: The number of rounds, at least 1,000. The sqlcipher tool opens the file with the passphrase
    ///   if `PRAGMA kdf_iter` sets the same number after the key.
    public static func pbkdf2(rounds: Int) -> KeyDerivation { KeyDerivation(function: .pbkdf2(rounds: rounds)) }

    /// scrypt (RFC 7914), which needs memory besides time.
    ///
    /// - Parameters:
    ///   - cost: The cost of time and memory (N), a power of two of at least 1,024.
    ///   - blockSize: The size of a block (r) in units of 128 bytes. The function needs `128 * cost * blockSize` bytes
    ///     of memory, which must not exceed 2 GiB.
    ///   - parallelism: The number of independent computations (p).
    public static func scrypt(cost: Int = 1 << 17, blockSize: Int = 8, parallelism: Int = 1) -> KeyDerivation {
        KeyDerivation(function: .scrypt(cost: cost, blockSize: blockSize, parallelism: parallelism))
    }

    /// Argon2id (RFC 9106), which needs memory besides time. It requires a libcrypto of OpenSSL 3.2 or newer.
    ///
    /// - Parameters:
    ///   - kibibytes: The memory, in units of 1,024 bytes: at least eight for each lane, and at most 2 GiB.
    ///   - iterations: The number of passes over the memory.
    ///   - lanes: The number of independent computations in a pass.
    public static func argon2id(kibibytes: Int = 65_536, iterations: Int = 3, lanes: Int = 4) -> KeyDerivation {
        KeyDerivation(function: .argon2id(kibibytes: kibibytes, iterations: iterations, lanes: lanes))
    }

    private static let maximumByteCount = 2 << 30

    /// Derives the key.
    ///
    /// - Throws: `invalidKey` for parameters out of their range; `cipherUnavailable` if libcrypto does not have the
    ///   function.
    func derive(
        _ passphrase: UnsafeRawBufferPointer,
        salt: [UInt8],
        into output: UnsafeMutableRawBufferPointer
    ) throws(DatabaseError) {
        guard isValid else { throw .invalidKey(.derivationParameters) }
        try ExitGate.enter()
        defer { ExitGate.leave() }
        let text = passphrase.baseAddress?.assumingMemoryBound(to: CChar.self)
        let key = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result: Int32
        switch function {
        case .pbkdf2(let rounds):
            result = PKCS5_PBKDF2_HMAC(
                text,
                Int32(clamping: passphrase.count),
                salt,
                Int32(salt.count),
                Int32(clamping: rounds),
                EVP_sha512(),
                Int32(output.count),
                key
            )
        case .scrypt(let cost, let blockSize, let parallelism):
            result = EVP_PBE_scrypt(
                text,
                passphrase.count,
                salt,
                salt.count,
                UInt64(cost),
                UInt64(blockSize),
                UInt64(parallelism),
                UInt64(Self.maximumByteCount) * 2,
                key,
                output.count
            )
        case .argon2id(let kibibytes, let iterations, let lanes):
            result = csqlcipher_argon2id(
                text,
                passphrase.count,
                salt,
                salt.count,
                UInt32(kibibytes),
                UInt32(iterations),
                UInt32(lanes),
                key,
                output.count
            )
            if result < 0 { throw .cipherUnavailable(reason: "its libcrypto has no Argon2id") }
        }
        guard result == 1 else { throw .cipherUnavailable(reason: "the key derivation failed") }
    }

    private var isValid: Bool {
        switch function {
        case .pbkdf2(let rounds):
            return (1000...Int(Int32.max)).contains(rounds)
        case .scrypt(let cost, let blockSize, let parallelism):
            let limit = Self.maximumByteCount / 128
            guard (1024...limit).contains(cost), cost & (cost - 1) == 0, (1...1024).contains(blockSize) else {
                return false
            }
            // RFC 7914, section 2: the cost must be less than 2^(128 × block size / 8).
            guard blockSize > 1 || cost < 1 << 16 else { return false }
            return cost <= limit / blockSize && (1...1024).contains(parallelism)
        case .argon2id(let kibibytes, let iterations, let lanes):
            guard (1...1024).contains(lanes), (1...1_000_000).contains(iterations) else { return false }
            return (8 * lanes...Self.maximumByteCount / 1024).contains(kibibytes)
        }
    }
}
