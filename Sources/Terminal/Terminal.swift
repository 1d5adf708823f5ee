package import Foundation

/// The terminal that a command-line tool writes to.
package enum Terminal {
    /// Whether a standard stream is a terminal, not a file or a pipe.
    package static func isTerminal(_ stream: FileHandle) -> Bool { isatty(stream.fileDescriptor) == 1 }

    /// The number of columns of the terminal on standard output; nil if it is not a terminal, or has no known width.
    package static var width: Int? {
        guard isTerminal(.standardOutput) else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes a line to standard error, after flushing standard output.
    package static func printError(_ line: String) {
        flush()
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Flushes all output streams.
    package static func flush() { fflush(nil) }
}

extension String {
    /// The text without control characters, which could move the cursor or change the terminal's state.
    package var printable: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.isControl ? "\u{FFFD}" : $0 }))
    }

    /// Returns the text in at most `width` characters, with an ellipsis if it is truncated.
    package func truncated(to width: Int) -> String {
        count <= width ? self : String(prefix(max(width - 1, 0))) + "…"
    }

    /// Returns the text padded with spaces to `width` characters.
    package func padded(to width: Int, alignsRight: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(width - count, 0))
        return alignsRight ? spaces + self : self + spaces
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { properties.generalCategory == .control }
}
