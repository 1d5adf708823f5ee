import CSQLCipher
import Foundation

/// The committed pages in a write-ahead log, as SQLite recovers them (SQLite file format, section 4).
///
/// A frame counts if it has the salts of the log's header and its checksum continues the checksum of the frame before
/// it. The log ends at the last such frame that ends a transaction. SQLite does the same, and drops the frames behind a
/// damaged frame, or behind a damaged header, without an error; ``lostCommitCount`` is the number of transactions among
/// them. Frames of an earlier log, with other salts, remain behind the end; no frame of this log can follow them.
struct LogContent {
    /// The offset in the log of the newest version of each page.
    private(set) var offsets: [UInt32: Int64] = [:]
    /// The number of pages of the database after the last transaction; nil if the log has none.
    private(set) var pageCount: Int?
    /// The number of frames of committed transactions.
    private(set) var frameCount = 0
    /// The number of transactions behind the damaged header or the first damaged frame. They belong to the same log,
    /// and were committed. A transaction whose last frame is damaged, too, cannot be counted.
    private(set) var lostCommitCount = 0
    /// Whether the log may have had transactions that are lost: it cannot be read, has no valid header, or its frames
    /// do not end with a transaction before the frames of an earlier log or the end of the file.
    private(set) var mayHaveLostCommits = false
    /// Whether the log had pages, and was ignored: its header is damaged, or none of its pages verifies, because it
    /// belongs to another file, or all of it is damaged.
    private(set) var isIgnored = false
    /// Whether bytes of the log have changed since they were written, so that transactions are lost. See ``BrokenFrame``.
    private(set) var wasModified = false
    /// Whether the transactions are lost because a block of the log never reached the disk: the block has zeros. A block
    /// with the content of an earlier log cannot be distinguished from one that was overwritten later.
    private(set) var hasUnwrittenBlock = false
    /// Whether the header is damaged.
    private(set) var hasDamagedHeader = false
    /// The number of transactions in ``frameCount`` frames.
    private(set) var commitCount = 0
    /// The offset of the last frame that ends one of the ``lostCommitCount`` transactions.
    private(set) var lastLostOffset: Int64?
    /// Whether the system failed to read the log.
    private(set) var hasReadError = false

    /// Whether SQLite reads fewer transactions than the log may have had after it was written.
    var hasLoss: Bool { lostCommitCount > 0 || isIgnored }

    private static let magic: UInt32 = 0x377f_0682
    private static let version: UInt32 = 3_007_000

    init() {}

    /// Reads a log for a salvage, and ignores it if none of its pages verifies. If only its header is damaged, all of
    /// it is read: if its frames belong to an earlier log, the database file already contains their pages.
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

        /// Whether one of the two salts of a frame is the same. A frame of an earlier log has neither of them.
        func isPart(of other: Salts) -> Bool { first == other.first || second == other.second }
    }

    /// The number of times that a log is read while other processes change it, until two readings find the same loss.
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
            if !hasLoss, !wasModified { return }
            // A writer may have written a part of a frame, or begun the log anew, before the earlier frames.
            let loss = Loss(header: header, commitCount: lostCommitCount)
            if loss == last { return }
            last = loss
        }
        lostCommitCount = 0
        isIgnored = false
        wasModified = false
    }

    /// The loss that one reading of a log has found.
    private struct Loss: Equatable {
        let header: Data?
        let commitCount: Int
    }

    /// The header of a log, which changes when a writer begins the log anew; nil if it cannot be read.
    static func header(path: String) -> Data? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        return header(of: file)
    }

    private static func header(of file: FileHandle) -> Data? {
        guard (try? file.seek(toOffset: 0)) != nil else { return nil }
        return try? file.read(upToCount: LogFormat.headerByteCount) ?? Data()
    }

    private init(_ file: FileHandle, _ header: Data?, _ cipher: PageCipher, readsBehindDamagedHeader: Bool) {
        mayHaveLostCommits = header.map { !$0.isEmpty } ?? true
        hasReadError = header == nil
        guard let header, header.count == LogFormat.headerByteCount else { return }
        var start = Self.start(header)
        hasDamagedHeader = start == nil
        var isFollowedByIntactFrame = false
        if hasDamagedHeader, let found = Self.start(at: file, cipher) {
            // A block that never reached the disk has at least 512 bytes, and would lack a part of the first frame, too.
            isFollowedByIntactFrame = true
            if readsBehindDamagedHeader { start = found }
        }
        guard (try? file.seek(toOffset: UInt64(LogFormat.headerByteCount))) != nil else { return }
        mayHaveLostCommits = !readFrames(file, start, cipher)
        if isFollowedByIntactFrame, lostCommitCount > 0 { wasModified = true }
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
        // The checksum of the last frame of an abandoned transaction, over whose beginning a later one was written.
        var abandoned: LogChecksum?
        // Whether the log ends with a transaction; nil until its end.
        var isComplete: Bool?
        var index: Int64 = 0
        while true {
            guard let frame = try? file.read(upToCount: LogFormat.frameByteCount) ?? Data() else {
                hasReadError = true
                return false
            }
            guard frame.count == LogFormat.frameByteCount else {
                // The change of a frame loses its own transaction, too.
                if let broken, broken.wasModified, broken.endsTransaction || lostCommitCount > 0 { wasModified = true }
                return isComplete ?? (frame.isEmpty && isIntact && pending.isEmpty)
            }
            if start == nil { isIgnored = true }
            frame.withUnsafeBytes { bytes in
                let (number, size) = (Self.word(bytes, 0), Self.word(bytes, 4))
                let own = Salts(first: Self.word(bytes, 8), second: Self.word(bytes, 12))
                let page = UnsafeRawBufferPointer(rebasing: bytes[LogFormat.frameHeaderByteCount...])
                // Behind a damaged header, the first readable frame is of the newest log.
                if salts == nil, number > 0, cipher.verifies(page, number: number) { salts = own }
                let isOfLog = number > 0 && own == salts
                if isIntact, isComplete == nil {
                    let previous = checksum
                    if isOfLog, checksum.continues(frame: bytes) {
                        pending[number] = LogFormat.offset(ofFrame: index) + Int64(LogFormat.frameHeaderByteCount)
                        guard size > 0 else { return }
                        offsets.merge(pending) { $1 }
                        pending = [:]
                        pageCount = Int(size)
                        frameCount = Int(index) + 1
                        commitCount += 1
                        return
                    }
                    let found = BrokenFrame(index, bytes, after: previous, hasOwnSalts: own == salts, cipher)
                    if isOfLog, pending.isEmpty, found.mayBeAbandoned { abandoned = found.stored }
                    hasUnwrittenBlock = found.hasUnwrittenBlock
                    broken = found
                } else {
                    if index - 1 == broken?.index { broken?.addNext(bytes) }
                    if abandoned?.continues(frame: bytes) != true || !isOfLog { abandoned = nil }
                }
                guard isOfLog else {
                    isComplete = (isComplete ?? (isIntact && pending.isEmpty)) && !(salts.map(own.isPart) ?? true)
                    return
                }
                isIntact = false
                if isComplete != nil { isComplete = false }
                // A transaction whose last frame is complete was committed, unless the frame is damaged, too.
                guard abandoned == nil, size > 0, cipher.verifies(page, number: number) else { return }
                lostCommitCount += 1
                lastLostOffset = LogFormat.offset(ofFrame: index)
            }
            index += 1
        }
    }

    // MARK: Pages

    /// The largest number of pages that are verified when a database is opened. Of a larger number, evenly spaced pages
    /// are chosen: to verify all of them takes half a second. A log has more pages only if readers keep it from being
    /// written back, or after a transaction of that size.
    private static let verificationLimit = 65_536

    /// Reads the newest version of a page. Returns false if the log has none, or if that version does not verify.
    func read(
        _ number: UInt32,
        from file: FileHandle,
        into page: UnsafeMutableRawBufferPointer,
        _ cipher: PageCipher
    ) -> Bool {
        guard let offset = offsets[number] else { return false }
        return cipher.reads(number, into: page) {
            pread(file.fileDescriptor, $0.baseAddress, $0.count, off_t(offset)) == $0.count ? 0 : EIO
        } == .intact
    }

    /// Whether the pages verify that SQLite reads from the log and writes back into the file.
    ///
    /// No connection may write to the log during the call. Takes 7 µs for each page: a hundredth of a second for the
    /// longest log that a process usually leaves.
    ///
    /// - Throws: `inputOutput` if the system cannot read a page.
    func verifies(path: String, _ cipher: PageCipher) throws(DatabaseError) -> Bool {
        guard let pageCount, let file = FileHandle(forReadingAtPath: path) else { return true }
        defer { try? file.close() }
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: PageCipher.pageByteCount, alignment: 8)
        defer { page.deallocate() }
        // In the order in which they lie in the file.
        let pages = offsets.filter { $0.key <= pageCount }.sorted { $0.value < $1.value }
        let step = (pages.count - 1) / Self.verificationLimit + 1
        for index in stride(from: 0, to: pages.count, by: step) {
            let (number, offset) = pages[index]
            let result = cipher.reads(number, into: page) {
                let count = pread(file.fileDescriptor, $0.baseAddress, $0.count, off_t(offset))
                return count < 0 ? errno : 0
            }
            switch result {
            case .intact: continue
            case .damaged: return false
            case .unreadable: throw .inputOutput(extendedCode: DatabaseError.readFailureCode, isIndeterminate: false)
            }
        }
        return true
    }

    /// A big-endian number.
    static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
