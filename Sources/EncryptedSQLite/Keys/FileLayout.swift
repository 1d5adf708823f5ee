/// The part of the first page of an encrypted file that is not encrypted.
enum FileLayout: Sendable {
    /// The first 16 bytes are the salt. Every SQLCipher tool opens such a file without further settings.
    case salt
    /// The first 32 bytes are the beginning of SQLite's header, and the program keeps the salt (`PRAGMA
    /// cipher_plaintext_header_size = 32`).
    case plaintextHeader

    /// The number of bytes at the beginning of the file that are not encrypted.
    var clearByteCount: Int {
        switch self {
        case .salt: DerivedKey.saltByteCount
        case .plaintextHeader: 32
        }
    }

    /// The statement that sets the layout of a database of a connection, after its key.
    func setting(of database: String) -> String {
        "PRAGMA \(database).cipher_plaintext_header_size = \(self == .salt ? 0 : clearByteCount)"
    }

    /// The beginning of each SQLite database without encryption, or with a plaintext header.
    static let magic = "SQLite format 3\0".utf8

    /// Whether a file begins as a SQLite database does. Such a file is not encrypted, or has a plaintext header.
    static func isPlaintext(_ bytes: some Sequence<UInt8>) -> Bool { bytes.starts(with: magic) }

    /// Recognises the layout of an encrypted file; returns nil for a SQLite database without encryption.
    ///
    /// A plaintext header has the length of SQLCipher's reserved bytes at the end of each page. A database without
    /// encryption can have the same length there, but its page does not look encrypted.
    init?(ofFirstPage page: [UInt8]) {
        guard Self.isPlaintext(page) else {
            self = .salt
            return
        }
        self = .plaintextHeader
        guard page.count == PageCipher.pageByteCount, Array(page[16..<18]) == [0x10, 0],
            page[20] == PageCipher.reservedByteCount, looksEncrypted(page)
        else { return nil }
    }

    /// Whether a plaintext header has bytes that SQLCipher never writes, at the offsets of its constants: the page size,
    /// the versions of the format (1, or 2 with a write-ahead log), the reserved bytes of each page and the payload
    /// fractions. The header is not authenticated.
    static func isHeaderDamaged(_ page: [UInt8]) -> Bool {
        Array(page[16..<18]) != [0x10, 0] || page[18..<20].contains { !(1...2).contains($0) }
            || page[20] != PageCipher.reservedByteCount || Array(page[21..<24]) != [64, 32, 32]
    }

    /// Whether the rest of the page looks like ciphertext, which contains nearly all of the 256 byte values (on
    /// average, one page in 30,000 lacks any of them); text, programs and most other files do not.
    func looksEncrypted(_ page: [UInt8]) -> Bool { Set(page.dropFirst(clearByteCount)).count > 240 }
}
