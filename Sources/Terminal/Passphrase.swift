import Foundation

/// The sources of a tool's passphrase. Its arguments are not one, because every user of the machine can see them.
package enum Passphrase {
    /// The environment variable that contains the passphrase.
    package static let variable = "SEALED_PASSPHRASE"

    /// The bytes of the environment variable; nil if it is not set.
    package static var fromEnvironment: [UInt8]? { fromEnvironment(variable) }

    /// The bytes of an environment variable; nil if it is not set.
    package static func fromEnvironment(_ variable: String) -> [UInt8]? {
        guard let value = getenv(variable) else { return nil }
        return Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
    }

    /// Asks for the passphrase on the terminal, without echo.
    ///
    /// - Throws: ``PassphraseError`` if standard input is not a terminal, or ends.
    package static func ask(_ question: String = "Passphrase: ") throws(PassphraseError) -> [UInt8] {
        guard Terminal.isTerminal(.standardInput) else { throw .noTerminal }
        var shown = termios()
        guard tcgetattr(STDIN_FILENO, &shown) == 0 else { throw .noTerminal }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        hidden.c_lflag |= tcflag_t(ECHONL)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown) }
        // Standard output may be redirected to a file; the question must appear on the terminal.
        try? FileHandle.standardError.write(contentsOf: Data(question.utf8))
        guard let line = readBytes() else { throw .endOfInput }
        return line
    }

    /// Reads to the end of the line; nil at the end of input. A `String` would not preserve all bytes.
    private static func readBytes() -> [UInt8]? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(STDIN_FILENO, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return bytes }
            bytes.append(byte)
        }
        return bytes.isEmpty ? nil : bytes
    }
}

/// The reason for a missing passphrase.
package enum PassphraseError: Error, CustomStringConvertible {
    case noTerminal
    case endOfInput

    package var description: String {
        switch self {
        case .noTerminal: "no passphrase: set \(Passphrase.variable), or run this on a terminal to be asked"
        case .endOfInput: "no passphrase was entered"
        }
    }
}
