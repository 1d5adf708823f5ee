import Foundation

/// Texts that were read from a file, in their order.
///
/// They are compared, not hashed: a process knows the contents of few files, and a hash of all bytes takes longer.
struct ReadBytes: Hashable {
    private var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(4096) }

    /// Adds a text, with its length.
    mutating func append(_ text: UnsafeRawBufferPointer) {
        withUnsafeBytes(of: text.count) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: text)
    }

    /// Compares all bytes.
    static func == (left: ReadBytes, right: ReadBytes) -> Bool {
        left.bytes.withUnsafeBytes { left in right.bytes.withUnsafeBytes { left.isEqual(to: $0) } }
    }

    /// Hashes the number of bytes.
    func hash(into hasher: inout Hasher) { hasher.combine(bytes.count) }
}

extension UnsafeRawBufferPointer {
    /// Whether two memory regions have the same bytes.
    func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return count == 0 }
        return memcmp(start, otherStart, count) == 0
    }
}
