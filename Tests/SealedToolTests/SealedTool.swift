import Foundation

/// The command-line tool as a process.
struct SealedTool {
    static let passphrase = "correct horse battery staple"

    struct Result {
        let status: Int32
        let output: String
        let errors: String
        /// Whether a signal ended the process.
        let isKilled: Bool
    }

    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()

    /// Starts the tool.
    ///
    /// - Parameters:
    ///   - environment: Variables besides `PATH`.
    ///   - shell: Commands of a shell that run before the tool, such as limits.
    init(
        _ arguments: [String],
        environment: [String: String] = ["SEALED_PASSPHRASE": passphrase],
        shell: String? = nil
    ) throws {
        let tool = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "sealed").path
        if let shell {
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", shell + "; exec \"$0\" \"$@\"", tool] + arguments
        } else {
            process.executableURL = URL(filePath: tool)
            process.arguments = arguments
        }
        process.environment = environment.merging(["PATH": "/usr/bin:/bin"]) { first, _ in first }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    /// Kills the process.
    func end() { kill(process.processIdentifier, SIGKILL) }

    /// Waits until the process ends.
    func wait() throws -> Result {
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        let errorText = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus,
            output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: errorText, as: UTF8.self),
            isKilled: process.terminationReason == .uncaughtSignal
        )
    }

    /// Runs the tool until it ends.
    static func run(_ arguments: String..., environment: [String: String] = ["SEALED_PASSPHRASE": passphrase]) throws
        -> Result
    {
        try SealedTool(arguments, environment: environment).wait()
    }
}
