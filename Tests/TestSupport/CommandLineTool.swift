/// The output of a command-line tool and its exit status.
package struct ToolResult {
    /// The exit status, or the signal that ended the process.
    package let status: Int32
    package let output: String
    package let errors: String
}

/// Runs a tool of the search path with `input` on its standard input, and waits until it exits.
package func run(_ tool: String, _ arguments: [String], input: String = "") throws -> ToolResult {
    try ChildProcess("/usr/bin/env", [tool] + arguments, input: input).wait()
}
