import CSQLCipher
import Foundation

/// The committed pages in a write-ahead log, as SQLite recovers them (SQLite file format, section 4).
///
/// A frame counts if its salts are those of the log's header and its checksum continues that of the frame before it.
/// The log ends at the last such frame that ends a transaction. SQLite does the same, and drops the frames behind a
/// damaged one, or behind a damaged header, without an error; ``lostCommitCount`` is the number of transactions among
/// them. Frames with other salts remain behind the end from an earlier log; none of the same log can follow them.
struct LogContent {
    /// The offset in the log of the newest version of each page.
    private(set) var offsets: [UInt32: Int64] = [:]
    /// The number of pages of the database after the last transaction; nil if the log has none.
    private(set) var pageCount: Int?
    /// The number of frames of committed transactions.
    private(set) var frameCount = 0
    /// The number of transactions behind the damaged header or the first damaged frame. They are of the same log, and
    /// were committed. A transaction whose last frame is damaged, too, cannot be counted.
    private(set) var lostCommitCount = 0
    /// Whether the log may have had transactions that are lost: it cannot be read, has no valid header, or does not end
    /// with a transaction, older frames or nothing.
    private(set) var mayHaveLostCommits = false
    /// Whether the log had pages, and was ignored: its header is damaged, or none of its pages verifies, because it
    /// belongs to another file, or all of it is damaged.
    private(set) var isIgnored = false
    /// Whether bytes of a frame have changed since it was written, and transactions follow it: the next frame continues
    /// its checksum, so that both were written one after the other. A frame that a power failure has kept from the disk
    /// is replaced by older content, the beginning of the next frame included; and what an abandoned transaction has
    /// left behind a later one is authentic.
    private(set) var hasDamagedFrame = false

    private static let magic: UInt32 = 0x377f_0682
    private static let version: UInt32 = 3_007_000

    init() {}

    /// Reads a log for a salvage, and ignores it if none of its pages verifies. If only its header is damaged, all of it
    /// is read: if its frames are those of an earlier log, the file has their pages already.
    ///
    /// - Parameter file: The log, open for reading.
    init(path: String, file: FileHandle?, ifOfFileWith cipher: PageCipher) {
        self.init(path: path, cipher: cipher, readsBehindDamagedHeader: true)
        guard !offsets.isEmpty, let file else { return }
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: PageCipher.pageByteCount, alignment: 8)
        defer { page.deallocate() }
        guard !offsets.keys.contains(where: { read($0, from: file, into: page, cipher) }) else { return }
        self.init()
        mayHaveLostCommits = true
        isIgnored = true
    }

    /// The salts of a log's frames, and the checksum that the first of them continues.
    private struct Start {
        let salts: Salts
        let checksum: LogChecksum
    }

    private struct Salts: Equatable {
        let first: UInt32
        let second: UInt32

        /// Whether the salts of a frame are partly the same, which those of an earlier log never are.
        func isPart(of other: Salts) -> Bool { first == other.first || second == other.second }
    }

    /// The number of times that a log is read while others change it, until a loss is found twice.
    private static let attempts = 5

    /// Reads a log; a file that does not exist has no content.
    ///
    /// - Parameter readsBehindDamagedHeader: Whether to read the frames behind a damaged header, which SQLite ignores.
    init(path: String, cipher: PageCipher, readsBehindDamagedHeader: Bool = false) {
        self.init()
        guard let file = FileHandle(forReadingAtPath: path) else {
            mayHaveLostCommits = FileManager.default.fileExists(atPath: path)
            return
        }
        defer { try? file.close() }
        var last: Loss?
        for _ in 0..<Self.attempts {
            let header = Self.header(of: file)
            self = LogContent(file, header, cipher, readsBehindDamagedHeader: readsBehindDamagedHeader)
            if lostCommitCount == 0, !isIgnored { return }
            // A writer may have written a part of a frame, or begun the log anew, before the earlier frames.
            let loss = Loss(header: header, commitCount: lostCommitCount)
            if loss == last { return }
            last = loss
        }
        lostCommitCount = 0
        isIgnored = false
        hasDamagedFrame = false
    }

    /// What a reading of a log has found to be lost.
    private struct Loss: Equatable {
        let header: Data?
        let commitCount: Int
    }

    private static func header(of file: FileHandle) -> Data? {
        guard (try? file.seek(toOffset: 0)) != nil else { return nil }
        return try? file.read(upToCount: LogFormat.headerByteCount) ?? Data()
    }

    private init(_ file: FileHandle, _ header: Data?, _ cipher: PageCipher, readsBehindDamagedHeader: Bool) {
        mayHaveLostCommits = header.map { !$0.isEmpty } ?? true
        guard let header, header.count == LogFormat.headerByteCount else { return }
        let start = Self.start(header) ?? (readsBehindDamagedHeader ? Self.start(at: file, cipher) : nil)
        guard (try? file.seek(toOffset: UInt64(LogFormat.headerByteCount))) != nil else { return }
        mayHaveLostCommits = !readFrames(file, start, cipher)
    }

    /// The content of a header; nil if it is damaged.
    private static func start(_ header: Data) -> Start? {
        let words = header.withUnsafeBytes { bytes in (0..<8).map { word(bytes, 4 * $0) } }
        guard words[0] & ~1 == magic, words[1] == version, words[2] == UInt32(PageCipher.pageByteCount) else {
            return nil
        }
        var checksum = LogChecksum(isBigEndian: words[0] & 1 == 1)
        header.withUnsafeBytes { checksum.add(UnsafeRawBufferPointer(rebasing: $0[..<24])) }
        guard checksum.first == words[6], checksum.second == words[7] else { return nil }
        return Start(salts: Salts(first: words[4], second: words[5]), checksum: checksum)
    }

    /// The start of a log by its first frame, whose page is authentic; nil if it is not.
    private static func start(at file: FileHandle, _ cipher: PageCipher) -> Start? {
        guard let frame = try? file.read(upToCount: LogFormat.frameByteCount), frame.count == LogFormat.frameByteCount
        else { return nil }
        return frame.withUnsafeBytes { bytes in
            let page = UnsafeRawBufferPointer(rebasing: bytes[LogFormat.frameHeaderByteCount...])
            guard word(bytes, 0) > 0, cipher.verifies(page, number: word(bytes, 0)) else { return nil }
            // SQLite computes the checksum in the order of the processor's bytes.
            var checksum = LogChecksum(ofFrame: bytes, isBigEndian: 1.bigEndian == 1)
            checksum.remove(page)
            checksum.remove(UnsafeRawBufferPointer(rebasing: bytes[..<8]))
            return Start(salts: Salts(first: word(bytes, 8), second: word(bytes, 12)), checksum: checksum)
        }
    }

    /// A frame whose checksum is not that of its content and of the frames before it.
    private struct BrokenFrame {
        let index: Int64
        /// The checksum that it should have.
        private let expected: LogChecksum
        /// The checksum that it has, if its page is damaged: the next frame may continue it nevertheless.
        private let stored: LogChecksum?

        init(_ index: Int64, _ frame: UnsafeRawBufferPointer, _ expected: LogChecksum, isAuthentic: Bool) {
            self.index = index
            self.expected = expected
            stored = isAuthentic ? nil : LogChecksum(ofFrame: frame, isBigEndian: expected.isBigEndian)
        }

        func isContinued(by frame: UnsafeRawBufferPointer) -> Bool {
            [expected, stored].contains { checksum in
                guard var checksum else { return false }
                return checksum.continues(frame: frame)
            }
        }
    }

    /// Reads all frames.
    ///
    /// - Parameter start: The content of the header; nil if it is damaged.
    /// - Returns: Whether the frames of the log end with a transaction, before older frames or the end of the file.
    private mutating func readFrames(_ file: FileHandle, _ start: Start?, _ cipher: PageCipher) -> Bool {
        var salts = start?.salts
        var checksum = start?.checksum ?? LogChecksum(isBigEndian: false)
        var pending: [UInt32: Int64] = [:]
        // Whether all frames of the log up to here continue its checksum.
        var isIntact = start != nil
        // The first frame that does not continue the checksum of the log.
        var broken: BrokenFrame?
        // Whether the next frame continues the checksum of that frame.
        var isContinued = false
        // Whether the log ends with a transaction; nil until its end.
        var isComplete: Bool?
        var index: Int64 = 0
        while true {
            guard let frame = try? file.read(upToCount: LogFormat.frameByteCount) ?? Data() else { return false }
            guard frame.count == LogFormat.frameByteCount else {
                return isComplete ?? (frame.isEmpty && isIntact && pending.isEmpty)
            }
            if start == nil { isIgnored = true }
            frame.withUnsafeBytes { bytes in
                let (number, size) = (Self.word(bytes, 0), Self.word(bytes, 4))
                let own = Salts(first: Self.word(bytes, 8), second: Self.word(bytes, 12))
                let page = UnsafeRawBufferPointer(rebasing: bytes[LogFormat.frameHeaderByteCount...])
                // Behind a damaged header, the first readable frame is of the newest log.
                if salts == nil, number > 0, cipher.verifies(page, number: number) { salts = own }
                guard number > 0, own == salts else {
                    isComplete = (isComplete ?? (isIntact && pending.isEmpty)) && !(salts.map(own.isPart) ?? true)
                    return
                }
                if isIntact, isComplete == nil {
                    isIntact = checksum.continues(frame: bytes)
                    if !isIntact {
                        broken = BrokenFrame(index, bytes, checksum, isAuthentic: cipher.verifies(page, number: number))
                    }
                } else {
                    isIntact = false
                    if let broken, index == broken.index + 1, broken.isContinued(by: bytes) { isContinued = true }
                }
                guard isIntact else {
                    if isComplete != nil { isComplete = false }
                    // A transaction whose last frame is complete was committed, unless the frame is damaged, too.
                    if size > 0, cipher.verifies(page, number: number) {
                        lostCommitCount += 1
                        if isContinued { hasDamagedFrame = true }
                    }
                    return
                }
                pending[number] = LogFormat.offset(ofFrame: index) + Int64(LogFormat.frameHeaderByteCount)
                if size > 0 {
                    offsets.merge(pending) { $1 }
                    pending = [:]
                    pageCount = Int(size)
                    frameCount = Int(index) + 1
                }
            }
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
    fileprivate static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}

/// The checksum of a log, over pairs of 32-bit words (SQLite file format, section 4.2).
private struct LogChecksum {
    let isBigEndian: Bool
    private(set) var first: UInt32 = 0
    private(set) var second: UInt32 = 0

    init(isBigEndian: Bool, first: UInt32 = 0, second: UInt32 = 0) {
        self.isBigEndian = isBigEndian
        self.first = first
        self.second = second
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        for offset in stride(from: 0, to: bytes.count & ~7, by: 8) {
            first = first &+ word(bytes, offset) &+ second
            second = second &+ word(bytes, offset + 4) &+ first
        }
    }

    /// Makes the checksum that a frame has.
    init(ofFrame frame: UnsafeRawBufferPointer, isBigEndian: Bool) {
        self.init(
            isBigEndian: isBigEndian,
            first: LogContent.word(frame, 16),
            second: LogContent.word(frame, 20)
        )
    }

    /// Adds a frame, and returns whether the frame has the result.
    mutating func continues(frame: UnsafeRawBufferPointer) -> Bool {
        add(UnsafeRawBufferPointer(rebasing: frame[..<8]))
        add(UnsafeRawBufferPointer(rebasing: frame[LogFormat.frameHeaderByteCount...]))
        return first == LogContent.word(frame, 16) && second == LogContent.word(frame, 20)
    }

    /// Makes the checksum the one to which the bytes were added.
    mutating func remove(_ bytes: UnsafeRawBufferPointer) {
        for offset in stride(from: 0, to: bytes.count & ~7, by: 8).reversed() {
            second = second &- word(bytes, offset + 4) &- first
            first = first &- word(bytes, offset) &- second
        }
    }

    private func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
        let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }
}
