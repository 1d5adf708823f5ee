import CSQLCipher
import Foundation
import Guarded

/// Memory for secrets: pages that hold nothing else, which the system omits from core dumps on Linux, and keeps out of
/// the swap area as far as the limit of locked memory allows (RLIMIT_MEMLOCK). A page without access rights lies before
/// and behind them, so that a buffer that overruns does not reach them.
///
/// Most secrets are keys of 32 bytes and live shortly: they share pages, without a system call for each of them.
enum SecretMemory {
    /// The longest notation of a key with its salt has 99 bytes.
    private static let slotByteCount = 128
    private static let slotCount = 128
    private static let pageByteCount = Int(sysconf(Int32(_SC_PAGESIZE)))

    /// The addresses of the slots that are not in use.
    private static let freeSlots = Guarded<[UInt]>([])

    /// Returns memory that is filled with zeros. The caller returns it by ``deallocate(_:)``, filled with zeros again.
    static func allocate(byteCount: Int) -> UnsafeMutableRawBufferPointer {
        guard byteCount <= slotByteCount else { return mapPages(byteCount: byteCount) }
        let address = freeSlots.withLock { slots -> UInt in
            if slots.isEmpty, let start = mapPages(byteCount: slotByteCount * slotCount).baseAddress {
                slots = (0..<slotCount).map { UInt(bitPattern: start + $0 * slotByteCount) }
            }
            return slots.removeLast()
        }
        return UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: address), count: byteCount)
    }

    static func deallocate(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let start = buffer.baseAddress else { return }
        guard buffer.count > slotByteCount else {
            return freeSlots.withLock { $0.append(UInt(bitPattern: start)) }
        }
        munmap(start - pageByteCount, pagesByteCount(for: buffer.count) + 2 * pageByteCount)
    }

    private static func pagesByteCount(for byteCount: Int) -> Int {
        (byteCount + pageByteCount - 1) / pageByteCount * pageByteCount
    }

    /// Maps pages between two pages without access rights.
    private static func mapPages(byteCount: Int) -> UnsafeMutableRawBufferPointer {
        let count = pagesByteCount(for: byteCount)
        let flags = MAP_PRIVATE | Int32(CSQLCIPHER_ANONYMOUS_MAPPING)
        guard let start = mmap(nil, count + 2 * pageByteCount, PROT_NONE, flags, -1, 0), start != MAP_FAILED,
            mprotect(start + pageByteCount, count, PROT_READ | PROT_WRITE) == 0
        else { fatalError("The system has no memory for a key: \(String(cString: strerror(errno)))") }
        let pages = start + pageByteCount
        csqlcipher_omit_from_core_dumps(pages, count)
        _ = mlock(pages, count)
        return UnsafeMutableRawBufferPointer(start: pages, count: byteCount)
    }
}
