import CSQLCipher

/// The 32 bytes that encrypt a file, and its salt, which is at the beginning of the file or kept by the program.
///
/// The key is derived once for each opened database. SQLCipher would derive it again for every connection, and would
/// treat a passphrase that looks like `x'…'` as a raw key.
struct DerivedKey: Sendable {
    static let byteCount = 32
    static let saltByteCount = 16
    /// The block length of HMAC-SHA512.
    private static let blockByteCount = 128

    let bytes: SecretBytes
    let salt: [UInt8]
    /// The layout of the file that has this key.
    let layout: FileLayout

    init(bytes: SecretBytes, salt: [UInt8], layout: FileLayout = .salt) {
        self.bytes = bytes
        self.salt = salt
        self.layout = layout
    }

    /// Creates the key of a file from the given key and the salt at the beginning of the file.
    ///
    /// A passphrase goes through PBKDF2-HMAC-SHA512; a raw key is used without change. The salt of a raw key takes
    /// precedence over the salt of the file.
    ///
    /// - Parameter fileSalt: The salt; nil for a file with a plaintext header. The key must have the salt then.
    init(_ key: EncryptionKey, fileSalt: [UInt8]?, counters: StatisticsCounters) throws(DatabaseError) {
        layout = fileSalt == nil ? .plaintextHeader : .salt
        let given: [UInt8]? = if case .raw(_, let salt) = key.material { salt } else { nil }
        guard let salt = fileSalt.map({ given ?? $0 }) ?? key.headerSalt ?? given else {
            throw .invalidKey(.missingSalt)
        }
        self.salt = salt
        switch key.material {
        case .raw(let bytes, _):
            self.bytes = bytes
        case .passphrase(let passphrase, let derivation):
            try Self.check(passphrase)
            counters.keyDerivations.count()
            bytes = try SecretBytes(count: Self.byteCount) { (output) throws(DatabaseError) in
                try passphrase.withUnsafeBytes { (passphrase) throws(DatabaseError) in
                    try derivation.derive(passphrase, salt: salt, into: output)
                }
            }
        }
        precondition(bytes.count == Self.byteCount && salt.count == Self.saltByteCount)
    }

    /// Throws for a passphrase that the key derivation cannot distinguish from a shorter one.
    ///
    /// HMAC pads a key to the length of a block with zero bytes, and replaces a longer one by its hash (RFC 2104,
    /// section 2). So zero bytes at the end of a passphrase are significant only beyond the length of a block.
    private static func check(_ passphrase: SecretBytes) throws(DatabaseError) {
        guard passphrase.count > 0 else { throw .invalidKey(.emptyPassphrase) }
        let endsWithZero = passphrase.withUnsafeBytes { $0.last == 0 }
        guard !endsWithZero || passphrase.count > blockByteCount else { throw .invalidKey(.trailingZeros) }
    }

    /// The same key and salt for a file that begins with the salt.
    var withSaltInFile: DerivedKey { DerivedKey(bytes: bytes, salt: salt) }

    /// Whether this is the key of a file with the salt `fileSalt`; nil stands for a file with a plaintext header.
    func isForFile(withSalt fileSalt: [UInt8]?) -> Bool {
        layout == .plaintextHeader ? fileSalt == nil : fileSalt == salt
    }

    /// Creates the key of a new file.
    init(forNewFile key: EncryptionKey, counters: StatisticsCounters) throws(DatabaseError) {
        guard key.headerSalt == nil else {
            try self.init(key, fileSalt: nil, counters: counters)
            return
        }
        try ExitGate.enter()
        defer { ExitGate.leave() }
        var salt = [UInt8](repeating: 0, count: Self.saltByteCount)
        guard RAND_bytes(&salt, Int32(salt.count)) == 1 else {
            throw .cipherUnavailable(reason: "the random number generator failed")
        }
        try self.init(key, fileSalt: salt, counters: counters)
    }

    /// The key that authenticates pages: two rounds of derivation from the encryption key, with the salt XORed with a
    /// constant.
    func authenticationKey() throws(DatabaseError) -> SecretBytes {
        try Self.stretch(bytes, salt: salt.map { $0 ^ 0x3a }, rounds: 2)
    }

    /// Lends the key in SQLCipher's notation for a raw key with salt, `x'<key><salt>'` in hexadecimal digits, to
    /// `body`.
    func withSpecification<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        let digits = Array("0123456789abcdef".utf8)
        let specification = SecretBytes(count: 2 * (Self.byteCount + Self.saltByteCount) + 3) { buffer in
            buffer[0] = UInt8(ascii: "x")
            buffer[1] = UInt8(ascii: "'")
            var position = 2
            func append(_ byte: UInt8) {
                buffer[position] = digits[Int(byte >> 4)]
                buffer[position + 1] = digits[Int(byte & 15)]
                position += 2
            }
            bytes.withUnsafeBytes { $0.forEach(append) }
            salt.forEach(append)
            buffer[position] = UInt8(ascii: "'")
        }
        return try specification.withUnsafeBytes(body)
    }

    /// Sets the key of a connection, and the layout of its file.
    func set(on connection: OpaquePointer) -> Int32 {
        let code = withSpecification { sqlite3_key_v2(connection, "main", $0.baseAddress, Int32($0.count)) }
        guard code == SQLITE_OK, layout == .plaintextHeader else { return code }
        return sqlite3_exec(connection, layout.setting(of: "main"), nil, nil, nil)
    }

    private static func stretch(
        _ secret: SecretBytes,
        salt: [UInt8],
        rounds: Int32
    ) throws(DatabaseError) -> SecretBytes {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        return try SecretBytes(count: byteCount) { (output) throws(DatabaseError) in
            let result = secret.withUnsafeBytes { secret in
                PKCS5_PBKDF2_HMAC(
                    secret.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(clamping: secret.count),
                    salt,
                    Int32(salt.count),
                    rounds,
                    EVP_sha512(),
                    Int32(output.count),
                    output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                )
            }
            guard result == 1 else { throw .cipherUnavailable(reason: "the key derivation failed") }
        }
    }
}
