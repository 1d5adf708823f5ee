/// The checksum of a log, over pairs of 32-bit words (SQLite file format, section 4.2).
struct LogChecksum: Equatable {
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

    /// Whether a frame has the checksum that follows this one.
    func isContinued(by frame: UnsafeRawBufferPointer) -> Bool {
        var checksum = self
        return checksum.continues(frame: frame)
    }

    /// Makes this the checksum before the bytes were added.
    mutating func remove(_ bytes: UnsafeRawBufferPointer) {
        for offset in stride(from: 0, to: bytes.count & ~7, by: 8).reversed() {
            second = second &- word(bytes, offset + 4) &- first
            first = first &- word(bytes, offset) &- second
        }
    }

    /// The two words whose addition leads from `earlier` to this checksum.
    func words(since earlier: LogChecksum) -> (UInt32, UInt32) {
        (first &- earlier.first &- earlier.second, second &- earlier.second &- first)
    }

    /// A word as the log has it.
    func bytes(of word: UInt32) -> UInt32 { isBigEndian ? word.bigEndian : word.littleEndian }

    private func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
        let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }
}
