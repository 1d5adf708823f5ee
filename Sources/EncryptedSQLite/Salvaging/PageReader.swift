import CSQLCipher
import Foundation

/// The decrypted pages of a database file and its log, read without SQLite.
///
/// SQLite gives up a connection at the first page that does not verify. The reader verifies and decrypts each page
/// alone.
final class PageReader {
    /// The bytes of a page that hold content; behind them are the initialization vector and the authentication code.
    static let usableByteCount = PageCipher.pageByteCount - PageCipher.reservedByteCount

    /// The number of pages of the database.
    private(set) var pageCount: Int
    /// The committed pages in the log.
    private(set) var log: LogContent
    private let connection: Connection
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let logFile: FileHandle?
    private var cipher: PageCipher
    private var key: DerivedKey
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: PageCipher.pageByteCount, alignment: 8)

    /// Reads a file through the descriptor of a connection: closing a second descriptor would release the locks that
    /// this process holds on the file.
    ///
    /// - Throws: `wrongKey` if no page of a sample verifies with the key; `notADatabase` for a file without a page.
    init(_ files: DatabaseFiles, of connection: Connection, key encryptionKey: EncryptionKey) throws(DatabaseError) {
        self.connection = connection
        let inspection = try FileInspection(files, of: connection, key: encryptionKey)
        guard let file = csqlcipher_main_file(connection.handle) else {
            throw .cannotOpen(path: files.namedPath, reason: "SQLite has no file for it")
        }
        var byteCount: Int64 = 0
        guard csqlcipher_file_size(file, &byteCount) == SQLITE_OK else {
            throw .inputOutput(extendedCode: SQLITE_IOERR, isIndeterminate: false)
        }
        self.file = file
        key = try DerivedKey(encryptionKey, fileSalt: inspection.salt, counters: connection.statistics)
        cipher = try PageCipher(key)
        logFile = FileHandle(forReadingAtPath: files.log)
        log = LogContent(path: files.log, file: logFile, ifOfFileWith: cipher)
        let filePageCount = Int(byteCount) / PageCipher.pageByteCount
        pageCount = Self.pageCount(log, logFile, filePageCount, cipher)
        if hasPageOfKey { return }
        // A damaged plaintext header looks like a salt.
        guard inspection.salt != nil, encryptionKey.headerSalt != nil else { throw inspection.refusal }
        key = try DerivedKey(encryptionKey, fileSalt: nil, counters: connection.statistics)
        cipher = try PageCipher(key)
        log = LogContent(path: files.log, file: logFile, ifOfFileWith: cipher)
        pageCount = Self.pageCount(log, logFile, filePageCount, cipher)
        guard hasPageOfKey else { throw .wrongKey(path: files.namedPath) }
    }

    /// The number of pages of a database with a log.
    ///
    /// The pages in a log are authenticated with their numbers, the size of the database in the log is not. So the
    /// pages behind the end of the file reach to the last page in the log that verifies, and not further.
    private static func pageCount(
        _ log: LogContent,
        _ logFile: FileHandle?,
        _ filePageCount: Int,
        _ cipher: PageCipher
    ) -> Int {
        guard let count = log.pageCount else { return filePageCount }
        guard count > filePageCount, let logFile else { return min(count, filePageCount) }
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: PageCipher.pageByteCount, alignment: 8)
        defer { page.deallocate() }
        let last = log.offsets.keys.filter { Int($0) > filePageCount }.sorted(by: >).first { number in
            log.read(number, from: logFile, into: page, cipher)
        }
        return min(count, max(filePageCount, last.map { Int($0) } ?? 0))
    }

    deinit {
        buffer.deallocate()
        try? logFile?.close()
    }

    /// The number of pages that are in neither the file nor the log, although the first page counts them.
    var missingPageCount: Int {
        guard let header = page(1)?[28..<32] else { return 0 }
        return max(0, Int(header.reduce(0 as UInt32) { $0 << 8 | UInt32($1) }) - pageCount)
    }

    /// Whether a page of a sample verifies.
    private var hasPageOfKey: Bool {
        let step = max(1, pageCount / 1000)
        return stride(from: 1, through: max(1, pageCount), by: step).contains { page($0) != nil }
    }

    /// The numbers of the pages that were read from the file because their version in the log does not verify.
    private(set) var outdatedPages: Set<Int> = []

    /// The content of a page; nil if the page does not verify, or is outside the file. If its version in the log does
    /// not verify, the content comes from the older version in the file.
    func page(_ number: Int) -> [UInt8]? {
        guard number >= 1, number <= pageCount, Int64(number) != PageCipher.lockPage else { return nil }
        let isInLog = log.offsets[UInt32(number)] != nil
        if isInLog, let logFile, log.read(UInt32(number), from: logFile, into: buffer, cipher) {
            return PageCipher.content(of: UnsafeRawBufferPointer(buffer), number: number, key)
        }
        let offset = Int64(number - 1) * Int64(PageCipher.pageByteCount)
        let result = cipher.reads(UInt32(number), into: buffer) {
            csqlcipher_file_read(file, $0.baseAddress, Int32($0.count), offset)
        }
        guard result == .intact else { return nil }
        if isInLog { outdatedPages.insert(number) }
        return PageCipher.content(of: UnsafeRawBufferPointer(buffer), number: number, key)
    }
}

extension PageCipher {
    /// Decrypts a page that was verified.
    static func content(of page: UnsafeRawBufferPointer, number: Int, _ key: DerivedKey) -> [UInt8]? {
        let usable = PageReader.usableByteCount
        // The salt or the plaintext header stands in the place of the first bytes of the first page.
        let start = number == 1 ? key.layout.clearByteCount : 0
        var isDecrypted = false
        let content = [UInt8](unsafeUninitializedCapacity: usable + blockByteCount) { output, count in
            output.initialize(repeating: 0)
            if start > 0, key.layout == .plaintextHeader {
                UnsafeMutableRawBufferPointer(output).copyMemory(from: UnsafeRawBufferPointer(rebasing: page[..<start]))
            }
            isDecrypted = decrypt(start..<usable, of: page, key, into: output.baseAddress! + start)
            count = usable
        }
        return isDecrypted ? content : nil
    }
}
