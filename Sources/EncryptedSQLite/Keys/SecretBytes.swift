import CSQLCipher

/// Bytes that are overwritten before their memory is freed.
///
/// `@unchecked Sendable`: only the initializer and `deinit` write the bytes; no reference exists before the end of the
/// one, or after the beginning of the other. In between threads only read.
final class SecretBytes: @unchecked Sendable {
    private let buffer: UnsafeMutableRawBufferPointer

    var count: Int { buffer.count }

    /// Allocates `count` zero bytes, which `initialize` fills.
    init<E: Error>(count: Int, _ initialize: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws(E) {
        buffer = .allocate(byteCount: count, alignment: 8)
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
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
        buffer.deallocate()
    }

    func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(buffer))
    }

    /// Collects a sequence of unknown length.
    private static func collect(_ bytes: some Sequence<UInt8>) -> SecretBytes {
        var collected = SecretBytes(count: 64) { _ in }
        var count = 0
        for byte in bytes {
            if count == collected.count {
                let smaller = collected
                collected = SecretBytes(count: 2 * count) {
                    $0.copyMemory(from: UnsafeRawBufferPointer(smaller.buffer))
                }
            }
            collected.buffer[count] = byte
            count += 1
        }
        return SecretBytes(count: count) {
            $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: collected.buffer[..<count]))
        }
    }
}
