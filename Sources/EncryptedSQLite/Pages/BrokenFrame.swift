/// The first frame of a log whose checksum contradicts its content and the frames before it, with the evidence of
/// the cause.
///
/// After a power failure, blocks of 512 bytes or more can lack the last write: they have zeros, or older content. Bytes
/// that have changed later are usually few. Such a change can be proved if it lies within the eight bytes of one step
/// of the checksum. The frames before give the state of the checksum before the step, and the checksum in the frame
/// gives the state after it. Both states together give the original bytes, with which the authentication code of the
/// page verifies. A missing block can look like such a change only if it begins with the last step of a frame; then the
/// next frame is missing, too.
///
/// Larger changes cannot be distinguished from a block with older content.
struct BrokenFrame {
    let index: Int64
    /// The checksum in the frame.
    let stored: LogChecksum
    /// Whether the page verifies with its number.
    let isAuthentic: Bool
    /// Whether a whole part of the frame that lies in one block has zeros, which no written page has.
    let hasUnwrittenBlock: Bool
    /// Whether the frame ends a transaction, as far as that is known.
    private(set) var endsTransaction: Bool
    /// Whether bytes of the frame have changed since it was written.
    private(set) var wasModified = false
    /// Whether the frame has the salts of the log. Older content has other salts.
    private let hasOwnSalts: Bool
    /// The number of bytes at the beginning of the page that are not authenticated.
    private let clearByteCount: Int
    /// The checksum of the content and of the frames before it.
    private let computed: LogChecksum
    /// Whether the original bytes of the last step of the checksum are known.
    private var hasKnownEnd = false

    /// The size of the smallest blocks that a power failure can keep from the disk.
    private static let blockByteCount: Int64 = 512
    private static let stepByteCount = 8

    /// Examines a frame behind frames with a checksum.
    init(
        _ index: Int64,
        _ frame: UnsafeRawBufferPointer,
        after previous: LogChecksum,
        hasOwnSalts: Bool,
        _ cipher: PageCipher
    ) {
        self.index = index
        self.hasOwnSalts = hasOwnSalts
        stored = LogChecksum(ofFrame: frame, isBigEndian: previous.isBigEndian)
        var computed = previous
        let isContinued = computed.continues(frame: frame)
        self.computed = computed
        let number = LogContent.word(frame, 0)
        endsTransaction = LogContent.word(frame, 4) > 0
        let page = UnsafeRawBufferPointer(rebasing: frame[LogFormat.frameHeaderByteCount...])
        clearByteCount = cipher.clearByteCount(ofPage: number)
        isAuthentic = number > 0 && cipher.verifies(page, number: number)
        hasUnwrittenBlock = Self.hasUnwrittenBlock(frame, at: LogFormat.offset(ofFrame: index))
        if isContinued {
            // The salts, which the checksum does not cover.
            wasModified = true
        } else if hasOwnSalts, !hasUnwrittenBlock {
            findChange(in: frame, after: previous, cipher)
        }
    }

    /// Whether the frame can be complete, and have followed other frames than the frames that are before it now: a
    /// transaction failed after it had written the frame, and a shorter transaction was written over its beginning. If
    /// the page is exactly a block, it can also be an older version of the page, in place of a block that never reached
    /// the disk. A block then begins with the page, or with a byte of the first page that is the same in each version.
    var mayBeAbandoned: Bool {
        let page = LogFormat.offset(ofFrame: index) + Int64(LogFormat.frameHeaderByteCount)
        let end = page + Int64(clearByteCount)
        return isAuthentic && !wasModified && end - end % Self.blockByteCount < page
    }

    /// Takes the next frame into account.
    mutating func addNext(_ frame: UnsafeRawBufferPointer) {
        if hasKnownEnd, stored.isContinued(by: frame) { wasModified = true }
        // Only the checksum has changed.
        if isAuthentic, hasOwnSalts, computed.isContinued(by: frame) { wasModified = true }
    }

    private static func hasUnwrittenBlock(_ frame: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
        var start = 0
        while start < frame.count {
            let end = min(frame.count, start + Int(blockByteCount - (offset + Int64(start)) % blockByteCount))
            if frame[start..<end].allSatisfy({ $0 == 0 }) { return true }
            start = end
        }
        return false
    }

    /// Looks for the step of the checksum whose original bytes make the page verify.
    private mutating func findChange(
        in frame: UnsafeRawBufferPointer,
        after previous: LogChecksum,
        _ cipher: PageCipher
    ) {
        // One of the two words of the checksum is right. In an abandoned transaction that happens only by chance.
        if isAuthentic, stored.first == computed.first || stored.second == computed.second {
            wasModified = true
            return
        }
        let steps = [0] + Array(stride(from: LogFormat.frameHeaderByteCount, to: frame.count, by: Self.stepByteCount))
        let content = steps.map { UnsafeRawBufferPointer(rebasing: frame[$0..<$0 + Self.stepByteCount]) }
        var before = [previous]
        for step in content.dropLast() {
            var state = before[before.count - 1]
            state.add(step)
            before.append(state)
        }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: frame.count, alignment: 8)
        defer { copy.deallocate() }
        copy.copyMemory(from: frame)
        var after = stored
        for (position, step) in zip(steps.indices, content).reversed() {
            let (first, second) = after.words(since: before[position])
            copy.storeBytes(of: after.bytes(of: first), toByteOffset: steps[position], as: UInt32.self)
            copy.storeBytes(of: after.bytes(of: second), toByteOffset: steps[position] + 4, as: UInt32.self)
            let original = UnsafeRawBufferPointer(copy)
            let number = LogContent.word(original, 0)
            let page = UnsafeRawBufferPointer(rebasing: original[LogFormat.frameHeaderByteCount...])
            let offset = max(0, steps[position] - LogFormat.frameHeaderByteCount)
            if number > 0, cipher.confirms(page, number: number, changedAt: position == 0 ? .max : offset) {
                endsTransaction = LogContent.word(original, 4) > 0
                if position == steps.count - 1 { hasKnownEnd = true } else { wasModified = true }
                return
            }
            copy.baseAddress!.advanced(by: steps[position])
                .copyMemory(from: step.baseAddress!, byteCount: Self.stepByteCount)
            after.remove(step)
        }
    }
}
