import CSQLCipher

/// The hash function SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// Returns the 32 bytes of a hash.
    ///
    /// - Throws: `cipherUnavailable` if libcrypto does not have the function.
    package static func hash(_ bytes: [UInt8]) throws(DatabaseError) -> [UInt8] {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        var hash = [UInt8](repeating: 0, count: 32)
        guard EVP_Digest(bytes, bytes.count, &hash, nil, EVP_sha256(), nil) == 1 else {
            throw .cipherUnavailable(reason: "libcrypto does not have SHA-256")
        }
        return hash
    }
}
