import Foundation

/// Where a command-line tool gets a passphrase from: never from its arguments, which every user of the machine can see.
package enum Passphrase {
    /// The environment variable that holds it.
    package static let variable = "SEALED_PASSPHRASE"

    /// The bytes of the environment variable; nil where it is not set.
    package static var fromEnvironment: [UInt8]? {
        guard let value = getenv(variable) else { return nil }
        return Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
    }

    /// Asks for it on the terminal, without showing what is typed.
    ///
    /// - Throws: ``PassphraseError`` where standard input is no terminal, or ends.
    package static func ask(_ question: String = "Passphrase: ") throws(PassphraseError) -> [UInt8] {
        guard Terminal.isTerminal(.standardInput) else { throw .noTerminal }
        var shown = termios()
        guard tcgetattr(STDIN_FILENO, &shown) == 0 else { throw .noTerminal }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        hidden.c_lflag |= tcflag_t(ECHONL)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown) }
        // Standard output may go to a file; the question is for the person.
        try? FileHandle.standardError.write(contentsOf: Data(question.utf8))
        guard let line = readBytes() else { throw .endOfInput }
        return line
    }

    /// Reads to the end of the line; nil where there is nothing to read. A `String` would not keep all bytes.
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

/// Why there is no passphrase.
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
