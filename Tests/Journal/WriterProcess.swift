package import Foundation
import TestSupport

/// A `journal-writer` process; killed with the last reference to it.
package final class WriterProcess {
    private let process: ChildProcess

    /// The path of the program, which lies beside that of the tests.
    package static var tool: String {
        URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "journal-writer").path
    }

    package init(_ store: URL, _ arguments: String...) throws {
        process = try ChildProcess(Self.tool, [store.path] + arguments, input: nil, capturesErrors: false)
    }

    /// Whether the process has not exited yet.
    package var isRunning: Bool { process.isRunning }

    /// The output that has been received.
    package var output: String { process.receivedOutput }

    /// Waits until the process has written a number of further lines, or has exited.
    package func waitForLines(_ count: Int) { process.waitForLines(count) }

    /// Sends a command to the process, which writes a line when it has carried it out.
    package func send(_ command: String) { process.send(command + "\n") }

    /// Sends a command to the process, and waits until it is carried out.
    package func run(_ command: String) {
        send(command)
        waitForLines(1)
    }

    /// Kills the process and receives the rest of its output.
    ///
    /// - Returns: The signal that ended the process, or nil if it exited by itself.
    package func end() -> Int32? { process.end() }

    /// Waits until the process exits.
    ///
    /// - Returns: The exit status.
    package func waitUntilExit() throws -> Int32 { try process.wait().status }
}
