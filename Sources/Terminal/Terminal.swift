package import Foundation

/// What a command-line tool knows of where its text goes.
package enum Terminal {
    /// Whether a standard stream is a terminal, and not a file or pipe.
    package static func isTerminal(_ stream: FileHandle) -> Bool { isatty(stream.fileDescriptor) == 1 }

    /// The number of columns of the terminal on standard output; nil where it is none or does not say.
    package static var width: Int? {
        guard isTerminal(.standardOutput) else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes a line to standard error, after what was printed so far.
    package static func printError(_ line: String) {
        flush()
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Makes everything visible that was printed so far.
    package static func flush() { fflush(nil) }
}

extension String {
    /// The text without characters that would move the cursor or change the terminal.
    package var printable: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.isControl ? "\u{FFFD}" : $0 }))
    }

    /// The text in at most `width` characters, its end replaced by an ellipsis where it is longer.
    package func truncated(to width: Int) -> String {
        count <= width ? self : String(prefix(max(width - 1, 0))) + "…"
    }

    /// The text with spaces behind it, or in front of it, to fill `width` characters.
    package func padded(to width: Int, alignsRight: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(width - count, 0))
        return alignsRight ? spaces + self : self + spaces
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { properties.generalCategory == .control }
}
