import Dispatch
import Foundation
import TestSupport

/// A program whose input and output are a pseudo-terminal; killed with the last reference to it.
final class TerminalProcess {
    struct Failure: Error {
        let description: String
    }

    /// How often a program gets a signal, in milliseconds.
    private static let signalInterval: Int32 = 50

    private let process: ChildProcess
    private let descriptor: Int32
    private var received = Data()

    /// Starts a program that was built with the tests.
    init(_ name: String, _ arguments: [String]) throws {
        var (main, side): (Int32, Int32) = (-1, -1)
        guard openpty(&main, &side, nil, nil, nil) == 0 else {
            throw Failure(description: "there is no pseudo-terminal: \(errno)")
        }
        descriptor = main
        for end in [main, side] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(side) }
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: name)
        process = try ChildProcess(program.path, arguments, terminal: side)
    }

    deinit {
        _ = process.end()
        close(descriptor)
    }

    /// Writes a line, as if it were typed.
    func type(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    /// Whether the terminal shows what is typed.
    var echoes: Bool {
        var mode = termios()
        return tcgetattr(descriptor, &mode) == 0 && mode.c_lflag & tcflag_t(ECHO) != 0
    }

    var identifier: pid_t { process.identifier }

    /// Sends a signal to the program.
    func send(_ signal: Int32) { process.send(signal) }

    /// Waits until the output contains a text, and returns the lines of the screen's last drawing that ends with it.
    ///
    /// - Parameter signal: A signal that the program gets again and again until then; nil for none.
    /// - Throws: if nothing more arrives for two minutes, or the program has ended.
    func waitFor(_ text: String, sending signal: Int32? = nil) throws -> [String] {
        let interval = signal == nil ? 120_000 : Self.signalInterval
        var rounds = 120_000 / interval
        while true {
            let output = String(decoding: received, as: UTF8.self)
            if let range = output.range(of: text) {
                received = Data(output[range.upperBound...].utf8)
                let drawing = output[..<range.upperBound].components(separatedBy: "\u{1B}[2J\u{1B}[H").last ?? ""
                return drawing.split(whereSeparator: \.isNewline).map(String.init)
            }
            var events = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&events, 1, interval) > 0 else {
                rounds -= 1
                guard rounds > 0, let signal else { throw Failure(description: "no '\(text)' in: \(output)") }
                process.send(signal)
                continue
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { throw Failure(description: "ended without '\(text)': \(output)") }
            received += buffer[..<count]
        }
    }

    /// Receives the rest of the output, without which a program may wait for the terminal, until the program ends.
    ///
    /// - Returns: The exit status, or the signal that ended the program.
    /// - Throws: if the program does not end within two minutes.
    func waitUntilExit() throws -> Int32 {
        let deadline = DispatchTime.now() + maximumWait
        while try receive(until: deadline) {}
        guard process.waitForEnd(until: deadline) else { throw stillRunning }
        return try process.wait().status
    }

    private var stillRunning: Failure {
        Failure(description: "still running: \(String(decoding: received, as: UTF8.self))")
    }

    /// Receives output.
    ///
    /// - Returns: false if no program uses the terminal any more.
    private func receive(until deadline: DispatchTime) throws -> Bool {
        var events = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let now = DispatchTime.now()
        guard now < deadline else { throw stillRunning }
        let milliseconds = Int32((deadline.uptimeNanoseconds - now.uptimeNanoseconds) / 1_000_000)
        // A terminal without a program is ready at once.
        guard poll(&events, 1, milliseconds) > 0 else { return true }
        guard events.revents & Int16(POLLIN) != 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &buffer, buffer.count)
        received += buffer[..<max(0, count)]
        return count > 0
    }
}
