import Foundation

/// The standard error of a tool. All of its lines pass through here, and none has a character that a terminal would act
/// on: see ``Swift/String/printable``.
package enum ErrorOutput {
    /// Writes a message, after the lines of ``Output``.
    ///
    /// Further lines of the message are indented: a name in the message that contains a line break cannot look like a
    /// separate message.
    package static func print(_ message: String) {
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        print(lines: lines.enumerated().map { $0 == 0 || $1.hasPrefix("  ") ? String($1) : "  \($1)" })
    }

    /// Ends the process with a message of the parser of arguments, which has its own layout. The arguments in it may
    /// contain line breaks.
    package static func end(with message: String, status: Int32) -> Never {
        let text = CommandLine.arguments.dropFirst().reduce(message) { text, argument in
            let printable = argument.printable
            // A single line break as an argument would match the layout of the message.
            return printable == argument || argument == "\n" ? text : text.replacing(argument, with: printable)
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if !text.isEmpty { print(lines: lines.map(String.init)) }
        exit(status)
    }

    /// Writes a text in place of the line of the cursor on the terminal.
    package static func replaceLine(by text: String) { write("\r\u{1B}[2K" + text.printable) }

    /// Writes a text without a line break, for example a question.
    static func ask(_ question: String) { write(question.printable) }

    /// Ends the line of the cursor.
    static func endLine() { write("\n") }

    private static func print(lines: [String]) {
        try? Output.flush()
        write(lines.map { $0.printable + "\n" }.joined())
    }

    private static func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}
