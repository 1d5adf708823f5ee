import CSQLCipher
import Foundation

/// The committed pages in a write-ahead log, as SQLite recovers them (SQLite file format, section 4).
///
/// A frame counts if its salts are those of the log's header and its checksum continues that of the frame before it.
/// The log ends at the last such frame that ends a transaction. SQLite does the same, and drops the frames behind a
/// damaged one without an error; ``lostCommitCount`` is the number of transactions among them.
struct LogContent {
    /// The offset in the log of the newest version of each page.
    private(set) var offsets: [UInt32: Int64] = [:]
    /// The number of pages of the database after the last transaction; nil if the log has none.
    private(set) var pageCount: Int?
    /// The number of frames of committed transactions.
    private(set) var frameCount = 0
    /// The number of transactions behind the first damaged frame. They are of the same log, and were committed.
    private(set) var lostCommitCount = 0
    /// Whether the log may have had transactions that are lost: it cannot be read, has no valid header, or does not end
    /// with a transaction, older frames or nothing.
    private(set) var mayHaveLostCommits = false
    /// Whether the log had pages, and was ignored because none of them verifies: it belongs to another file, or all of
    /// it is damaged.
    private(set) var isIgnored = false

    private static let magic: UInt32 = 0x377f_0682
    private static let version: UInt32 = 3_007_000

    init() {}

    /// Reads a log, and ignores it if none of its pages verifies.
    ///
    /// - Parameter file: The log, open for reading.
    init(path: String, file: FileHandle?, ifOfFileWith cipher: PageCipher) {
        self.init(path: path, cipher: cipher)
        guard !offsets.isEmpty, let file else { return }
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: PageCipher.pageByteCount, alignment: 8)
        defer { page.deallocate() }
        guard !offsets.keys.contains(where: { read($0, from: file, into: page, cipher) }) else { return }
        self.init()
        mayHaveLostCommits = true
        isIgnored = true
    }

    /// Reads a log; a file that does not exist or has no valid header has no content.
    init(path: String, cipher: PageCipher) {
        guard let file = FileHandle(forReadingAtPath: path) else {
            mayHaveLostCommits = FileManager.default.fileExists(atPath: path)
            return
        }
        defer { try? file.close() }
        let header = try? file.read(upToCount: LogFormat.headerByteCount) ?? Data()
        mayHaveLostCommits = header.map { !$0.isEmpty } ?? true
        guard let header, header.count == LogFormat.headerByteCount else { return }
        let words = header.withUnsafeBytes { bytes in (0..<8).map { Self.word(bytes, 4 * $0) } }
        guard words[0] & ~1 == Self.magic, words[1] == Self.version, words[2] == UInt32(PageCipher.pageByteCount) else {
            return
        }
        var checksum = LogChecksum(isBigEndian: words[0] & 1 == 1)
        header.withUnsafeBytes { checksum.add(UnsafeRawBufferPointer(rebasing: $0[..<24])) }
        guard checksum.first == words[6], checksum.second == words[7] else { return }
        let salts = (words[4], words[5])
        mayHaveLostCommits =
            !readFrames(file, salts: salts, checksum, cipher) || Self.hasFrame(file, salts: salts)
    }

    /// Whether the rest of a log has a frame with one of its salts, of which older frames have none.
    private static func hasFrame(_ file: FileHandle, salts: (UInt32, UInt32)) -> Bool {
        while let frame = try? file.read(upToCount: LogFormat.frameByteCount), frame.count == LogFormat.frameByteCount {
            if frame.withUnsafeBytes({ word($0, 8) == salts.0 || word($0, 12) == salts.1 }) { return true }
        }
        return false
    }

    /// Returns whether the frames of the log end with a transaction, before older frames or the end of the file.
    private mutating func readFrames(
        _ file: FileHandle,
        salts: (UInt32, UInt32),
        _ headerChecksum: LogChecksum,
        _ cipher: PageCipher
    ) -> Bool {
        var checksum = headerChecksum
        var pending: [UInt32: Int64] = [:]
        var isIntact = true
        var index: Int64 = 0
        while true {
            guard let frame = try? file.read(upToCount: LogFormat.frameByteCount) ?? Data() else { return false }
            guard frame.count == LogFormat.frameByteCount else {
                return frame.isEmpty && isIntact && pending.isEmpty
            }
            let isBehindLog = frame.withUnsafeBytes { bytes -> Bool in
                let (number, size) = (Self.word(bytes, 0), Self.word(bytes, 4))
                // Frames with other salts are older than the log.
                let frameSalts = (Self.word(bytes, 8), Self.word(bytes, 12))
                guard number > 0, frameSalts == salts else {
                    if frameSalts.0 == salts.0 || frameSalts.1 == salts.1 { isIntact = false }
                    return true
                }
                let page = UnsafeRawBufferPointer(rebasing: bytes[LogFormat.frameHeaderByteCount...])
                if isIntact {
                    checksum.add(UnsafeRawBufferPointer(rebasing: bytes[..<8]))
                    checksum.add(page)
                    isIntact = checksum.first == Self.word(bytes, 16) && checksum.second == Self.word(bytes, 20)
                }
                guard isIntact else {
                    // A transaction whose last frame is complete was committed, unless the frame is damaged, too.
                    if size > 0, cipher.verifies(page, number: number) { lostCommitCount += 1 }
                    return false
                }
                pending[number] = LogFormat.offset(ofFrame: index) + Int64(LogFormat.frameHeaderByteCount)
                if size > 0 {
                    offsets.merge(pending) { $1 }
                    pending = [:]
                    pageCount = Int(size)
                    frameCount = Int(index) + 1
                }
                return false
            }
            if isBehindLog { return isIntact && pending.isEmpty }
            index += 1
        }
    }

    // MARK: Pages

    /// The largest number of pages that are verified when a database is opened; of more, evenly spaced ones. To verify
    /// them all takes half a second. A log has more pages only if readers keep it from being written back, or after a
    /// transaction of that size.
    private static let verificationLimit = 65_536

    /// Reads the newest version of a page. Returns false if the log has none, or if that version does not verify.
    func read(
        _ number: UInt32,
        from file: FileHandle,
        into page: UnsafeMutableRawBufferPointer,
        _ cipher: PageCipher
    ) -> Bool {
        guard let offset = offsets[number] else { return false }
        return pread(file.fileDescriptor, page.baseAddress, page.count, off_t(offset)) == page.count
            && cipher.verifies(UnsafeRawBufferPointer(page), number: number)
    }

    /// Whether the pages verify that SQLite reads from the log and writes back into the file.
    ///
    /// No connection may write to the log meanwhile. Takes 7 µs for each page: a hundredth of a second for the longest
    /// log that a process usually leaves.
    func verifies(path: String, _ cipher: PageCipher) -> Bool {
        guard let pageCount, let file = FileHandle(forReadingAtPath: path) else { return true }
        defer { try? file.close() }
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: PageCipher.pageByteCount, alignment: 8)
        defer { page.deallocate() }
        // In the order in which they lie in the file.
        let pages = offsets.filter { $0.key <= pageCount }.sorted { $0.value < $1.value }
        let step = (pages.count - 1) / Self.verificationLimit + 1
        return stride(from: 0, to: pages.count, by: step).allSatisfy {
            read(pages[$0].key, from: file, into: page, cipher)
        }
    }

    /// A big-endian number.
    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}

/// The checksum of a log, over pairs of 32-bit words (SQLite file format, section 4.2).
private struct LogChecksum {
    let isBigEndian: Bool
    private(set) var first: UInt32 = 0
    private(set) var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + 8 <= bytes.count {
            let left = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            let right = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            first = first &+ (isBigEndian ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ second
            second = second &+ (isBigEndian ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ first
            offset += 8
        }
    }
}
