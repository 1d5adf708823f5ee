import EncryptedSQLite
import Foundation

/// A text file that is written in pieces.
final class OutputFile {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    private static let bufferByteCount = 1 << 18

    /// - Parameter descriptor: The descriptor of an empty file, which its owner closes.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Appends bytes, which `body` adds to a buffer.
    ///
    /// - Throws: `DatabaseError.diskFull`, `DatabaseError.inputOutput`; errors of `body`.
    func write(_ body: (inout [UInt8]) throws -> Void) throws {
        try body(&buffer)
        if buffer.count >= Self.bufferByteCount { try flush() }
    }

    /// Writes the rest.
    func flush() throws {
        try buffer.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = writeBytes(UnsafeRawBufferPointer(rebasing: rest), to: descriptor)
                if count < 0 {
                    guard errno == EINTR else { throw Self.error(errno) }
                } else {
                    rest = rest.dropFirst(count)
                }
            }
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// The error of the store's own layer: a full disk is the same error in every part of an export.
    private static func error(_ code: Int32) -> DatabaseError {
        [ENOSPC, EDQUOT, EFBIG].contains(code)
            ? .diskFull : .inputOutput(extendedCode: 0, isIndeterminate: false)
    }
}

// Outside of the class, whose method has the name of the system's function.

private func writeBytes(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
