import Foundation
import Guarded
import Terminal

/// The standard output of the tool.
///
/// `print` ignores errors: an output that a full disk cuts off would look like a complete one.
enum Output {
    /// The lines that were not written yet.
    private static let pending = Guarded<[UInt8]>([])
    /// Whether each line is written at once.
    private static let isTerminal = Terminal.isTerminal(.standardOutput)
    private static let bufferByteCount = 1 << 16

    /// Writes a line.
    ///
    /// - Throws: ``OutputError`` for this line, or for lines before it.
    static func print(_ line: String) throws {
        try pending.withLock { bytes in
            bytes += line.utf8
            bytes.append(UInt8(ascii: "\n"))
            if isTerminal || bytes.count >= bufferByteCount { try write(&bytes) }
        }
    }

    /// Writes the lines that were not written yet.
    ///
    /// - Throws: ``OutputError``
    static func flush() throws {
        try pending.withLock { bytes in try write(&bytes) }
    }

    /// Writes all bytes, and removes them. After an error, the rest is lost.
    private static func write(_ bytes: inout [UInt8]) throws {
        defer { bytes.removeAll(keepingCapacity: true) }
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = writeToStandardOutput(UnsafeRawBufferPointer(rebasing: rest))
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    // Another program has made the terminal or the pipe non-blocking.
                    var events = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                    poll(&events, 1, -1)
                } else if errno != EINTR {
                    throw OutputError(code: errno)
                }
            }
        }
    }
}

/// A failed write to standard output.
struct OutputError: Error, CustomStringConvertible {
    /// The number of the error, see errno(3).
    let code: Int32

    var description: String { "standard output cannot be written: \(String(cString: strerror(code)))" }
}

// Outside of the enumeration, whose method has the name of the system's function.
private func writeToStandardOutput(_ bytes: UnsafeRawBufferPointer) -> Int {
    write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
}
