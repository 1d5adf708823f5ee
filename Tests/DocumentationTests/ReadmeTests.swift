import Foundation
import Testing

@Suite("The code in README.md") struct ReadmeTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    /// The lines of a file without indentation, empty ones and comments at the end left out.
    private static func lines(_ text: Substring) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test func `every line of it is compiled`() throws {
        let readme = try String(contentsOf: Self.folder.appending(path: "../../README.md"), encoding: .utf8)
        let source = try String(contentsOf: Self.folder.appending(path: "ReadmeSnippets.swift"), encoding: .utf8)
        let compiled = "\n" + Self.lines(source[...]).joined(separator: "\n") + "\n"
        let parts = readme.split(separator: "```", omittingEmptySubsequences: false)
        let snippets = stride(from: 1, to: parts.count, by: 2).map { parts[$0] }.filter { $0.hasPrefix("swift\n") }
        #expect(snippets.count >= 5)
        for snippet in snippets {
            let lines = Self.lines(snippet.dropFirst("swift\n".count))
            let imports = lines.filter { $0.hasPrefix("import ") }
            let code = lines.filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
            for line in imports { #expect(compiled.contains("\n\(line)\n"), "\(line)") }
            #expect(compiled.contains("\n\(code)\n"), "not compiled:\n\(code)")
        }
    }

    @Test func `it does what the page says`() throws {
        var printed: [String] = []
        try runReadme { first, second in printed.append(second.isEmpty ? first : "\(first) \(second)") }
        #expect(printed == ["Kokoro Natsume Sōseki", "Kokoro", "Botchan"])
    }
}
