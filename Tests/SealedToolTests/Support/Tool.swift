import Foundation

/// Runs the tool `sealed` and waits until it exits.
struct Tool {
    let status: Int32
    let output: String
    let errors: String

    /// - Parameter environment: Further environment variables.
    init(_ arguments: [String], environment: [String: String] = [:], input: String = "") throws {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
            path: "sealed"
        )
        process.arguments = arguments
        var variables = ProcessInfo.processInfo.environment
        variables["SEALED_PASSPHRASE"] = nil
        process.environment = variables.merging(environment) { $1 }
        let (standardInput, output, errors) = (Pipe(), Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        let outputBytes = try output.fileHandleForReading.readToEnd() ?? Data()
        let errorBytes = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        status = process.terminationStatus
        self.output = String(decoding: outputBytes, as: UTF8.self)
        self.errors = String(decoding: errorBytes, as: UTF8.self)
    }
}
