import Foundation

/// A `journal-writer` process; killed with the last reference to it.
final class WriterProcess {
    private let process = Process()
    private let pipe = Pipe()
    private let input = Pipe()
    private var received = Data()

    init(_ store: URL, _ arguments: String...) throws {
        process.executableURL = URL(filePath: CommandLine.arguments[0])
            .deletingLastPathComponent().appending(path: "journal-writer")
        process.arguments = [store.path] + arguments
        process.standardOutput = pipe
        // The reporter of crashes would keep the pipe open, and can outlive a process that is killed while it crashes.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        process.standardInput = input
        try process.run()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// Whether the process has not exited yet.
    var isRunning: Bool { process.isRunning }

    /// The output that has been received.
    var output: String { String(decoding: received, as: UTF8.self) }

    private var lineCount: Int { received.count { $0 == UInt8(ascii: "\n") } }

    /// Waits until the process has written a number of further lines, or has exited.
    func waitForLines(_ count: Int) {
        let end = lineCount + count
        while lineCount < end {
            let more = pipe.fileHandleForReading.availableData
            if more.isEmpty { return }
            received += more
        }
    }

    /// Sends a command to the process, and waits until it is carried out.
    func run(_ command: String) {
        input.fileHandleForWriting.write(Data((command + "\n").utf8))
        waitForLines(1)
    }

    /// Kills the process and receives the rest of its output.
    ///
    /// - Returns: The signal that ended the process, or nil if it exited by itself.
    func end() -> Int32? {
        kill(process.processIdentifier, SIGKILL)
        received += (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
        // Not by `waitUntilExit()` alone, which can miss the end of a process that is killed while others are started.
        var status: Int32 = 0
        if waitpid(process.processIdentifier, &status, 0) > 0 { return status & 0x7f == 0 ? nil : status & 0x7f }
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil
    }

    /// Waits until the process exits.
    ///
    /// - Returns: The exit status.
    func waitUntilExit() -> Int32 {
        received += (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
