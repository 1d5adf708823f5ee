import Foundation

/// The sources of a tool's passphrase. Its arguments are no source, because every user of the machine can see them.
package enum Passphrase {
    /// The environment variable that contains the passphrase.
    package static let variable = "SEALED_PASSPHRASE"

    /// Asks for the passphrase on the terminal, without echo.
    ///
    /// If a signal ends the process, the terminal gets its echo back first. If the process is stopped, for example by
    /// Ctrl-Z, it asks again when it continues.
    ///
    /// - Throws: ``PassphraseError`` if standard input is not a terminal, or ends.
    package static func ask(_ question: String = "Passphrase: ") throws(PassphraseError) -> [UInt8] {
        guard Terminal.isTerminal(.standardInput) else { throw .noTerminal }
        while true {
            var shown = termios()
            guard tcgetattr(STDIN_FILENO, &shown) == 0 else { throw .noTerminal }
            var hidden = shown
            hidden.c_lflag &= ~tcflag_t(ECHO)
            hidden.c_lflag |= tcflag_t(ECHONL)
            let signals = PromptSignals()
            setMode(&hidden)
            // Standard output may be redirected to a file; the question must appear on the terminal.
            ErrorOutput.ask(question)
            let line = readLine()
            if case .interrupted = line { ErrorOutput.endLine() }
            setMode(&shown)
            if signals.restoreAndRaise() { continue }
            guard case .bytes(let bytes) = line else { throw .endOfInput }
            return bytes
        }
    }

    /// Sets the mode of the terminal, and discards what was typed before.
    private static func setMode(_ mode: inout termios) {
        while tcsetattr(STDIN_FILENO, TCSAFLUSH, &mode) != 0, errno == EINTR {}
    }

    private enum Line {
        case bytes([UInt8])
        case end
        /// A signal has arrived.
        case interrupted
    }

    /// The interval at which a question looks for signals, in milliseconds.
    private static let signalInterval: Int32 = 50

    /// Reads to the end of the line. A `String` would not preserve all bytes.
    private static func readLine() -> Line {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !PromptSignals.haveArrived {
            // Another thread may get the signal; the signal does not interrupt this thread then.
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            let isReady = poll(&input, 1, signalInterval)
            if isReady == 0 || isReady < 0 && errno == EINTR { continue }
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return count < 0 || bytes.isEmpty ? .end : .bytes(bytes) }
            if byte == UInt8(ascii: "\n") { return .bytes(bytes) }
            bytes.append(byte)
        }
        return .interrupted
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
