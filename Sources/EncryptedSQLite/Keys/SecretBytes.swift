import CSQLCipher

/// Bytes in ``SecretMemory``, which are overwritten before it is freed.
///
/// `@unchecked Sendable`: the pointer is a constant. The bytes are written by the initializer, before any reference
/// exists, and by `deinit`, after the last one; in between, all threads only read them.
final class SecretBytes: @unchecked Sendable {
    private let buffer: UnsafeMutableRawBufferPointer

    var count: Int { buffer.count }

    /// Allocates `count` zero bytes, which `initialize` fills.
    init<E: Error>(count: Int, _ initialize: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws(E) {
        buffer = SecretMemory.allocate(byteCount: count)
        try initialize(buffer)
    }

    /// Copies bytes. Contiguous bytes are copied once; others pass through a buffer that is overwritten, too.
    convenience init(copying bytes: some Sequence<UInt8>) {
        let copy = bytes.withContiguousStorageIfAvailable { bytes in
            SecretBytes(count: bytes.count) { $0.copyMemory(from: UnsafeRawBufferPointer(bytes)) }
        }
        let source = copy ?? Self.collect(bytes)
        self.init(count: source.count) { $0.copyMemory(from: UnsafeRawBufferPointer(source.buffer)) }
    }

    deinit {
        // Unlike an ordinary loop or memset, this call is never optimised away.
        OPENSSL_cleanse(buffer.baseAddress, buffer.count)
        SecretMemory.deallocate(buffer)
    }

    func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(buffer))
    }

    /// Collects a sequence of unknown length.
    private static func collect(_ bytes: some Sequence<UInt8>) -> SecretBytes {
        var rest = bytes.makeIterator()
        var next = rest.next()
        var collected = SecretBytes(count: 0) { _ in }
        var count = 0
        while next != nil {
            let smaller = collected
            collected = SecretBytes(count: max(64, 2 * count)) { buffer in
                buffer.copyMemory(from: UnsafeRawBufferPointer(smaller.buffer))
                while let byte = next, count < buffer.count {
                    buffer[count] = byte
                    count += 1
                    next = rest.next()
                }
            }
        }
        return SecretBytes(count: count) {
            $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: collected.buffer[..<count]))
        }
    }
}
