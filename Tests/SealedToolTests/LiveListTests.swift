import Foundation
import TestSupport
import Testing

/// The demo's list in a pseudo-terminal, while other processes write.
@Suite struct LiveListTests {
    private let folder = TemporaryFolder()

    private func demo(_ command: String, _ texts: String...) throws {
        let tool = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "sealed-demo")
        let result = try run(tool.path, [command, folder.filePath("notes.sealed")] + texts)
        #expect(result.status == 0, "\(result)")
    }

    @Test func `a list in a terminal follows the writes of other processes`() throws {
        try demo("add", "bread", "milk")
        let list = try TerminalProcess("sealed-demo", ["watch", folder.filePath("notes.sealed")])
        #expect(try list.waitFor("2 notes").dropLast() == ["  bread", "  milk"])
        try demo("add", "eggs")
        #expect(try list.waitFor("3 notes").dropLast() == ["  bread", "+ eggs", "  milk"])
        try demo("remove", "bread")
        #expect(try list.waitFor("2 notes").dropLast() == ["  eggs", "  milk"])
        list.type("q")
        _ = try list.waitFor("Ended.")
        #expect(try list.waitUntilExit() == 0)
    }
}
