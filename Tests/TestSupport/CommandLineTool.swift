import Foundation

/// The output of a command-line tool and its exit status.
package struct ToolResult {
    package let status: Int32
    package let output: String
    package let errors: String
}

/// Runs a tool of the search path with `input` on its standard input, and waits until it exits.
package func run(_ tool: String, _ arguments: [String], input: String = "") throws -> ToolResult {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [tool] + arguments
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
    return ToolResult(
        status: process.terminationStatus,
        output: String(decoding: outputBytes, as: UTF8.self),
        errors: String(decoding: errorBytes, as: UTF8.self)
    )
}
