import Foundation
import Synchronization

/// The standard output of a tool. All of its lines pass through here, and none has a character that a terminal would act
/// on: see ``Swift/String/printable``.
///
/// `print` of the standard library ignores errors: an output that a full disk cuts off would look complete.
package enum Output {
    /// The lines that were not written yet.
    private static let pending = Mutex<[UInt8]>([])
    /// Whether each line is written at once.
    private static let isTerminal = Terminal.isTerminal(.standardOutput)
    private static let bufferByteCount = 1 << 16

    /// Writes a line.
    ///
    /// - Throws: ``OutputError`` for this line, or for lines before it.
    package static func print(_ line: String = "") throws { try append(line.printable + "\n") }

    /// Writes lines in place of everything on the terminal; elsewhere below the lines before.
    ///
    /// - Throws: ``OutputError``
    package static func redraw(_ lines: [String]) throws {
        let start = isTerminal ? "\u{1B}[2J\u{1B}[H" : ""
        try append(start + lines.map { $0.printable + "\n" }.joined())
        try flush()
    }

    /// Writes a text in place of the line of the cursor on the terminal.
    static func replaceLine(by text: String) { try? append("\r\u{1B}[2K" + text.printable) }

    private static func append(_ text: String) throws {
        try pending.withLock { bytes in
            bytes += text.utf8
            if isTerminal || bytes.count >= bufferByteCount { try write(&bytes) }
        }
    }

    /// Writes the lines that were not written yet.
    ///
    /// - Throws: ``OutputError``
    package static func flush() throws {
        try pending.withLock { bytes in try write(&bytes) }
    }

    /// Writes all bytes, and removes them. After an error, the unwritten bytes are lost.
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
package struct OutputError: Error, CustomStringConvertible {
    /// The number of the error, see errno(3).
    let code: Int32

    package var description: String { "standard output cannot be written: \(String(cString: strerror(code)))" }
}

// Outside of the enumeration, whose method has the name of the system's function.
private func writeToStandardOutput(_ bytes: UnsafeRawBufferPointer) -> Int {
    write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
}
