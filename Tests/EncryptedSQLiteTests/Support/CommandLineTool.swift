import Foundation

/// What a command-line tool printed, and how it ended.
struct ToolResult {
    let status: Int32
    let output: String
    let errors: String
}

/// Runs a tool with a script on its standard input.
func run(_ tool: String, _ arguments: [String], input: String = "") throws -> ToolResult {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [tool] + arguments
    let (standardInput, output, errors) = (Pipe(), Pipe(), Pipe())
    process.standardInput = standardInput
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try standardInput.fileHandleForWriting.close()
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    let complaints = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return ToolResult(
        status: process.terminationStatus,
        output: String(decoding: printed, as: UTF8.self),
        errors: String(decoding: complaints, as: UTF8.self)
    )
}
