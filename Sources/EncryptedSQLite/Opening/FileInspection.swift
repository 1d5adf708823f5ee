import CSQLCipher
import Foundation

/// Inspects the bytes of a database file before SQLite reads it, so that a refused file does not change.
///
/// The bytes are read through the descriptor of the connection. A read without locks may meet a page that another
/// process is writing. Therefore the inspection never reports damage: SQLite does that, once the key has proved right.
struct FileInspection {
    private static let pageByteCount = PageCipher.pageByteCount
    /// The number of pages to try if the first page does not verify.
    private static let sampleCount = 64
    /// The length of the largest database: SQLite's page numbers end at 4,294,967,294.
    private static let maximumByteCount = Int64(UInt32.max - 1) * Int64(pageByteCount)

    private let files: DatabaseFiles
    private var path: String { files.namedPath }
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let byteCount: Int64
    private let firstPage: [UInt8]
    private let layout: FileLayout
    /// Whether the file begins with a plaintext header that SQLCipher does not write.
    let isHeaderDamaged: Bool

    /// Reads the first page through a connection that has read nothing yet. The connection must outlive the inspection.
    ///
    /// Throws `emptyFile` or `notADatabase` for a file that no key opens.
    ///
    /// - Parameter key: The key of the file. If it is a key for files with a plaintext header, a damaged header counts
    ///   as such a header until ``verify(_:)``: without a key, such a file cannot be distinguished from a database
    ///   without encryption.
    init(_ files: DatabaseFiles, of connection: Connection, key: EncryptionKey? = nil) throws(DatabaseError) {
        self.files = files
        let path = files.namedPath
        guard let file = csqlcipher_main_file(connection.handle) else {
            throw .cannotOpen(path: path, reason: "SQLite has no file for it")
        }
        var byteCount: Int64 = 0
        let code = csqlcipher_file_size(file, &byteCount)
        guard code == SQLITE_OK else { throw connection.failure(code, during: .execution) }
        self.file = file
        self.byteCount = byteCount
        guard byteCount > 0 else { throw .emptyFile(path: path) }
        guard byteCount <= Self.maximumByteCount else { throw .notADatabase(path: path, .unrecognised) }
        let start = try Self.read(file, at: 0, count: Int(min(byteCount, Int64(Self.pageByteCount))))
        var layout = FileLayout(ofFirstPage: start)
        if layout == nil, key?.headerSalt != nil, start.count == Self.pageByteCount,
            FileLayout.plaintextHeader.looksEncrypted(start)
        {
            layout = .plaintextHeader
        }
        guard let layout else { throw .notADatabase(path: path, .plaintextSQLite) }
        guard start.count == Self.pageByteCount else { throw .notADatabase(path: path, .shorterThanOnePage) }
        isHeaderDamaged = layout == .plaintextHeader && FileLayout.isHeaderDamaged(start)
        firstPage = start
        self.layout = layout
    }

    /// The salt at the beginning of the file; nil for a plaintext header.
    var salt: [UInt8]? { layout == .salt ? Array(firstPage.prefix(DerivedKey.saltByteCount)) : nil }

    /// Whether the last page is incomplete. The only valid cause is a checkpoint that is running, or that the end of
    /// its process interrupted.
    var endsWithinPage: Bool { byteCount % Int64(Self.pageByteCount) != 0 }

    /// Whether a key may open the file: its length and its first page can belong to an encrypted database.
    var isPlausible: Bool {
        layout.looksEncrypted(firstPage) && (!endsWithinPage || DatabaseFiles.byteCount(of: files.log) > 0)
    }

    /// The header of the first page; nil if the page does not look like a page that was written with the key.
    ///
    /// The page may be damaged nevertheless: ``verify(_:)`` must confirm a header before a file is refused because of
    /// it.
    func header(_ key: DerivedKey) -> DatabaseHeader? {
        firstPage.withUnsafeBytes { PageCipher.header(ofFirstPage: $0, key) }
    }

    /// Throws unless the key belongs to the file. One page that verifies is a proof.
    ///
    /// Returns the header of the first page, or nil if that page is damaged or being written.
    func verify(_ key: DerivedKey) throws(DatabaseError) -> DatabaseHeader? {
        let cipher = try PageCipher(key)
        if firstPage.withUnsafeBytes({ cipher.verifies($0, number: 1) }) { return header(key) }
        if try hasPage(of: cipher) { return nil }
        if try logHasPage(of: cipher) { return nil }
        guard !endsWithinPage, layout.looksEncrypted(firstPage) else {
            throw .notADatabase(path: path, .unrecognised)
        }
        throw refusal
    }

    /// The error for a key with which no page verifies.
    var refusal: DatabaseError {
        isHeaderDamaged ? .notADatabase(path: path, .plaintextSQLite) : .wrongKey(path: path)
    }

    /// Whether the key belongs to the file, whose plaintext header is damaged at its beginning and looks like a salt.
    func hasHeaderLikeSalt(_ key: EncryptionKey, counters: StatisticsCounters) throws(DatabaseError) -> Bool {
        guard layout == .salt, key.headerSalt != nil else { return false }
        let derived = try DerivedKey(key, fileSalt: nil, counters: counters)
        do throws(DatabaseError) {
            _ = try verify(derived)
            return true
        } catch {
            switch error {
            case .wrongKey, .notADatabase: return false
            default: throw error
            }
        }
    }

    /// Whether any page of the file, other than the first, was written with the key.
    private func hasPage(of cipher: PageCipher) throws(DatabaseError) -> Bool {
        let pageCount = byteCount / Int64(Self.pageByteCount)
        for number in Self.sample(2, through: pageCount) {
            let page = try Self.read(file, at: (number - 1) * Int64(Self.pageByteCount), count: Self.pageByteCount)
            if page.withUnsafeBytes({ cipher.verifies($0, number: UInt32(number)) }) { return true }
        }
        return false
    }

    /// Whether any page in the write-ahead log was written with the key.
    ///
    /// SQLite takes no locks on the log file, so opening and closing it releases no lock.
    private func logHasPage(of cipher: PageCipher) throws(DatabaseError) -> Bool {
        guard let log = FileHandle(forReadingAtPath: files.log) else { return false }
        defer { try? log.close() }
        guard let end = try? log.seekToEnd(), end <= UInt64(Int64.max) else { return false }
        for index in Self.sample(0, through: LogFormat.frameCount(inByteCount: Int64(end)) - 1) {
            let frame: Data
            do {
                try log.seek(toOffset: UInt64(LogFormat.offset(ofFrame: index)))
                frame = try log.read(upToCount: LogFormat.frameByteCount) ?? Data()
            } catch {
                throw .inputOutput(extendedCode: DatabaseError.readFailureCode, isIndeterminate: false)
            }
            guard frame.count == LogFormat.frameByteCount else { return false }
            let number = frame.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let isOurs = frame.withUnsafeBytes { bytes in
                cipher.verifies(
                    UnsafeRawBufferPointer(rebasing: bytes[LogFormat.frameHeaderByteCount...]),
                    number: number
                )
            }
            if isOurs { return true }
        }
        return false
    }

    /// About `sampleCount` evenly spaced numbers of a range; all of them if the range is smaller.
    private static func sample(_ first: Int64, through last: Int64) -> StrideThrough<Int64> {
        stride(from: first, through: last, by: Int(max(1, (last - first + 1) / Int64(sampleCount))))
    }

    private static func read(
        _ file: UnsafeMutablePointer<sqlite3_file>,
        at offset: Int64,
        count: Int
    ) throws(DatabaseError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let code = csqlcipher_file_read(file, &bytes, Int32(count), offset)
        // A file that has become shorter since its length was read yields zeros.
        guard code == SQLITE_OK || code & 0xff == SQLITE_IOERR && code >> 8 == 2 else {
            throw .inputOutput(extendedCode: code, isIndeterminate: false)
        }
        return bytes
    }
}

/// The layout of a write-ahead log (SQLite file format, section 4.1): a header of 32 bytes, then frames, each of which
/// is a header of 24 bytes that begins with the big-endian page number, and a page.
enum LogFormat {
    static let headerByteCount = 32
    static let frameHeaderByteCount = 24
    static let frameByteCount = frameHeaderByteCount + PageCipher.pageByteCount

    /// The number of complete frames in a log of the given length.
    static func frameCount(inByteCount byteCount: Int64) -> Int64 {
        max(0, byteCount - Int64(headerByteCount)) / Int64(frameByteCount)
    }

    static func offset(ofFrame index: Int64) -> Int64 { Int64(headerByteCount) + index * Int64(frameByteCount) }
}
