import Foundation
import TestSupport

/// The tool `sealed`, run as a process.
enum Tool {
    static let passphrase = "correct horse battery staple"

    /// The environment that gives the tool the passphrase.
    static let environment = ["SEALED_PASSPHRASE": passphrase]

    /// Starts the tool.
    ///
    /// - Parameters:
    ///   - environment: The variables besides `PATH`.
    ///   - shell: Commands of a shell that run before the tool, such as limits.
    static func start(
        _ arguments: [String],
        environment: [String: String] = environment,
        input: String = "",
        shell: String? = nil
    ) throws -> ChildProcess {
        let tool = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "sealed").path
        let environment = environment.merging(["PATH": "/usr/bin:/bin"]) { first, _ in first }
        guard let shell else { return try ChildProcess(tool, arguments, environment: environment, input: input) }
        let command = shell + "; exec \"$0\" \"$@\""
        return try ChildProcess(
            "/bin/sh",
            ["-c", command, tool] + arguments,
            environment: environment,
            input: input
        )
    }

    /// Runs the tool until it ends.
    static func run(
        _ arguments: String...,
        environment: [String: String] = environment,
        input: String = ""
    ) throws -> ToolResult {
        try start(arguments, environment: environment, input: input).wait()
    }
}
