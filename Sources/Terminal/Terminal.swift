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
}
