import CSQLCipher

/// The part of SQLCipher 4's page format that is needed to test whether a key belongs to a file before SQLite opens it.
///
/// A page of 4,096 bytes consists of ciphertext (AES-256-CBC), 16 bytes of initialisation vector, and an HMAC-SHA512
/// over both and the page number in little-endian order. The first page begins with the salt, or with a plaintext
/// header, in place of ciphertext.
struct PageCipher {
    static let pageByteCount = 4096
    /// The page with the bytes that SQLite locks, which never has content (SQLite file format, section 1.4).
    static let lockPage: Int64 = 0x4000_0000 / Int64(pageByteCount) + 1
    static let blockByteCount = 16
    private static let vectorByteCount = 16
    private static let codeByteCount = 64
    static let reservedByteCount = vectorByteCount + codeByteCount

    /// AES-256-CBC. OpenSSL looks an algorithm up at each use unless it was fetched once, which takes several times as
    /// long as to decrypt a header.
    ///
    /// `nonisolated(unsafe)`: the pointer is a constant, which Swift initializes once. It leads to an algorithm of
    /// libcrypto, which is immutable, may be used by several threads at once, and is never freed.
    nonisolated(unsafe) private static let blockCipher: OpaquePointer? =
        csqlcipher_fetch_aes_256_cbc() ?? EVP_aes_256_cbc()

    private let authenticationKey: SecretBytes
    private let layout: FileLayout
    /// The first bytes of the file, which never change and are not authenticated.
    private let beginning: [UInt8]

    init(_ key: DerivedKey) throws(DatabaseError) {
        layout = key.layout
        beginning = key.layout == .plaintextHeader ? Array(FileLayout.magic) : key.salt
        authenticationKey = try key.authenticationKey()
    }

    /// Whether the page was written with this key under this number, and is undamaged.
    func verifies(_ page: UnsafeRawBufferPointer, number: UInt32) -> Bool {
        precondition(page.count == Self.pageByteCount)
        guard (try? ExitGate.enter()) != nil else { return false }
        defer { ExitGate.leave() }
        let start = number == 1 ? layout.clearByteCount : 0
        var message = Array(page[start..<page.count - Self.codeByteCount])
        withUnsafeBytes(of: number.littleEndian) { message.append(contentsOf: $0) }
        var code = [UInt8](repeating: 0, count: Self.codeByteCount)
        let computed = authenticationKey.withUnsafeBytes { key in
            HMAC(EVP_sha512(), key.baseAddress, Int32(key.count), message, message.count, &code, nil)
        }
        guard computed != nil else { return false }
        let stored = UnsafeRawBufferPointer(rebasing: page[(page.count - Self.codeByteCount)...])
        return CRYPTO_memcmp(code, stored.baseAddress, Self.codeByteCount) == 0
    }

    /// The number of bytes at the beginning of a page that its authentication code does not cover.
    func clearByteCount(ofPage number: UInt32) -> Int { number == 1 ? layout.clearByteCount : 0 }

    /// Whether a page verifies after bytes at an offset were changed to restore it. The bytes must be covered by the
    /// authentication code, or be the same in each version of the page.
    func confirms(_ page: UnsafeRawBufferPointer, number: UInt32, changedAt offset: Int) -> Bool {
        guard verifies(page, number: number) else { return false }
        guard offset < clearByteCount(ofPage: number) else { return true }
        return offset < beginning.count && page.prefix(beginning.count).elementsEqual(beginning)
    }

    /// The result of reading a page from a file.
    enum ReadPage {
        case intact, damaged, unreadable
    }

    /// Reads a page and verifies it. A page that cannot be read or does not verify is read once more: a device can fail
    /// for a moment.
    ///
    /// - Parameter read: Reads the page, and returns a code that is not 0 if the system reports an error.
    func reads(
        _ number: UInt32,
        into page: UnsafeMutableRawBufferPointer,
        _ read: (UnsafeMutableRawBufferPointer) -> Int32
    ) -> ReadPage {
        var result = ReadPage.damaged
        for _ in 0..<2 {
            guard read(page) == 0 else {
                result = .unreadable
                continue
            }
            if verifies(UnsafeRawBufferPointer(page), number: number) { return .intact }
            result = .damaged
        }
        return result
    }

    /// The database header on a first page; nil if the page was not written with the key.
    ///
    /// The constants of the header prove the key. They prove neither that the rest of the page is undamaged nor that
    /// the rest of the header is.
    static func header(ofFirstPage page: UnsafeRawBufferPointer, _ key: DerivedKey) -> DatabaseHeader? {
        precondition(page.count == Self.pageByteCount)
        let ciphertext = key.layout.clearByteCount..<DatabaseHeader.byteCount
        var plaintext = [UInt8](repeating: 0, count: ciphertext.count + blockByteCount)
        guard decrypt(ciphertext, of: page, key, into: &plaintext) else { return nil }
        let clear = page[DerivedKey.saltByteCount..<key.layout.clearByteCount]
        return DatabaseHeader(bytes: Array(clear) + plaintext)
    }

    /// Decrypts blocks of a page.
    ///
    /// - Parameters:
    ///   - range: The offsets of the ciphertext.
    ///   - output: Memory for the plaintext and one block more.
    /// - Returns: False if the cipher is not available.
    static func decrypt(
        _ range: Range<Int>,
        of page: UnsafeRawBufferPointer,
        _ key: DerivedKey,
        into output: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        guard (try? ExitGate.enter()) != nil else { return false }
        defer { ExitGate.leave() }
        guard let context = EVP_CIPHER_CTX_new() else { return false }
        defer { EVP_CIPHER_CTX_free(context) }
        let page = page.assumingMemoryBound(to: UInt8.self)
        let vector = page.baseAddress! + (pageByteCount - reservedByteCount)
        let isStarted = key.bytes.withUnsafeBytes { key in
            let key = key.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return EVP_DecryptInit_ex(context, blockCipher, nil, key, vector) == 1
        }
        guard isStarted, EVP_CIPHER_CTX_set_padding(context, 0) == 1 else { return false }
        var count: Int32 = 0
        let ciphertext = page.baseAddress! + range.lowerBound
        return EVP_DecryptUpdate(context, output, &count, ciphertext, Int32(range.count)) == 1
            && Int(count) == range.count
    }
}

/// The fields of a SQLite database header that identify its application and format (SQLite file format, section 1.3).
struct DatabaseHeader: Equatable {
    /// The number of bytes of the page to decrypt: the header is 100 bytes, and the blocks of the cipher have 16 bytes.
    static let byteCount = 112
    /// The bytes of the header that are reserved. They are zero, and encrypted in each layout.
    private static let reserved = 72..<92

    let userVersion: Int32
    let applicationID: Int32

    init(userVersion: Int32, applicationID: Int32) {
        self.userVersion = userVersion
        self.applicationID = applicationID
    }

    /// Reads the header behind the salt. Returns nil if a field that SQLCipher 4 fills with a constant has another
    /// value: the page size, the reserved bytes of each page, the payload fractions, or the reserved bytes of the
    /// header.
    init?(bytes: [UInt8]) {
        func integer(at offset: Int) -> Int32 {
            let start = offset - DerivedKey.saltByteCount
            return bytes[start..<start + 4].reduce(0) { $0 << 8 | Int32($1) }
        }
        guard Int(integer(at: 16)) >> 16 == PageCipher.pageByteCount,
            integer(at: 20) == Int32(PageCipher.reservedByteCount) << 24 | 0x40_2020,
            Self.reserved.allSatisfy({ bytes[$0 - DerivedKey.saltByteCount] == 0 })
        else { return nil }
        userVersion = integer(at: 60)
        applicationID = integer(at: 68)
    }
}
