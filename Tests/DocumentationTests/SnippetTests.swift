import Foundation
import Guarded
import TestSupport
import Testing

@Suite("The code in the README and the articles") struct SnippetTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

    /// A page of documentation, by its path.
    struct Page: CustomTestStringConvertible, Sendable {
        let path: String

        var testDescription: String { path }
    }

    /// The README, and the articles of all catalogues.
    private static let pages: [Page] = {
        let sources = FileManager.default.enumerator(atPath: root.appending(path: "Sources").path)
        let paths = sources?.compactMap { $0 as? String } ?? []
        return (["README.md"] + paths.filter { $0.contains(".docc/") && $0.hasSuffix(".md") }.map { "Sources/\($0)" })
            .sorted().map(Page.init)
    }()

    /// The lines of all files with snippets, with line breaks around them.
    private static let compiled: String = {
        let folder = root.appending(path: "Tests/DocumentationTests/Snippets")
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        let texts = files.compactMap { try? String(contentsOf: $0, encoding: .utf8) }
        return "\n" + texts.map { lines($0[...]).joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }()

    /// The lines of a text without indentation, empty ones left out.
    private static func lines(_ text: Substring) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// The Swift snippets of a page.
    private static func snippets(_ page: Page) throws -> [Substring] {
        let text = try String(contentsOf: root.appending(path: page.path), encoding: .utf8)
        let parts = text.split(separator: "```", omittingEmptySubsequences: false)
        return stride(from: 1, to: parts.count, by: 2).map { parts[$0] }.filter { $0.hasPrefix("swift\n") }
    }

    @Test(arguments: pages) func `every line of it is compiled`(page: Page) throws {
        for snippet in try Self.snippets(page) {
            let lines = Self.lines(snippet.dropFirst("swift\n".count))
            let imports = lines.filter { $0.hasPrefix("import ") }
            let code = lines.filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
            for line in imports { #expect(Self.compiled.contains("\n\(line)\n"), "\(line)") }
            #expect(Self.compiled.contains("\n\(code)\n"), "not compiled:\n\(code)")
        }
    }

    @Test func `there are pages with code`() throws {
        #expect(try Self.snippets(Page(path: "README.md")).count >= 5)
        #expect(try Self.pages.count { try !Self.snippets($0).isEmpty } >= 6)
    }

    @Test func `the README's code has the results in its comments`() throws {
        var printed: [String] = []
        try runReadme { first, second in printed.append(second.isEmpty ? first : "\(first) \(second)") }
        #expect(printed == ["Kokoro Natsume Sōseki", "Kokoro", "Botchan"])
    }

    @Test func `the code of the object graph's articles has the described results`() throws {
        let folder = TemporaryFolder()
        var printed: [String] = []
        try runObjectGraphArticles(url: folder.file("library.sealed")) { printed.append($0) }
        let mistake = "entity 'Book' has no property 'titel': did you mean 'title'? (at character 5)"
        let format = "title BEGINSWITH[c] %@ AND pages >= %@ AND pages <= %@"
        #expect(printed == ["2", "Author", "true", "true", "0", mistake, format, "1000"])
    }

    @Test func `the code of the model articles has the described results`() async throws {
        let folder = TemporaryFolder()
        let printed = Guarded<[String]>([])
        try await runSealedDataArticles(url: folder.file("archive.sealed")) { text in
            printed.withLock { $0.append(text) }
        }
        let expected = [
            "true", "Kyōto National Museum", "1", "true", "false", "Pontochō", "the mood changes", "3",
            "Arashiyama", "Gion", "Nijō",
            "1 700.0", "1400.0", "Kyoto 3 Arashiyama", "1",
        ]
        #expect(printed.withLock { $0 } == expected)
    }

    @Test func `the code of the articles on indexes and searches has the described results`() throws {
        let printed = Guarded<[String]>([])
        try runSearchArticles { text in printed.withLock { $0.append(text) } }
        let expected = [
            #"["_rtree_Teahouse_latitude_longitude"]"#, "true", "Green tea", "Coffee", "1", "1",
            "…it needs no [ceremony].",
        ]
        #expect(printed.withLock { $0 } == expected)
    }

    @Test func `the code of the article on data stores has the described results`() throws {
        let folder = TemporaryFolder()
        var printed: [String] = []
        try runDataStoreArticle(url: folder.file("trips.json")) { printed.append($0) }
        #expect(printed == ["1"])
    }

    @Test func `the code of the article on live results has the described results`() async throws {
        let printed = Guarded<[String]>([])
        try await runLiveResultsArticle { text in printed.withLock { $0.append(text) } }
        #expect(printed.withLock { $0 } == [#"Japan ["Kyoto"]"#, #"Portugal ["Lisbon"]"#, "2", "2", "4"])
    }

    @Test func `the code of the article on the history has the described results`() throws {
        let folder = TemporaryFolder()
        let printed = Guarded<[String]>([])
        try runHistoryArticle(url: folder.file("walks.store")) { text in printed.withLock { $0.append(text) } }
        #expect(printed.withLock { $0 } == ["new Walk", "true", "Nara", "0", "true"])
    }

    @Test func `the code of the article on exchanges has the described results`() throws {
        let folder = TemporaryFolder()
        var printed: [String] = []
        try ExchangeArticle { printed.append($0) }.run(folder: folder.url)
        #expect(printed == ["Walk title tookIncoming", #"["Nara"]"#])
    }

    @Test func `the code of the article on queries has the described results`() throws {
        var printed: [String] = []
        try QueryArticle.run { printed.append($0) }
        let expected = [
            "The Old Man and the Sea", "The Waves", "1", "0", "1", "1",
            #"["Across the River", "The Old Man and the Sea", "The Waves"]"#,
            #"["The Waves", "The Old Man and the Sea", "Across the River"]"#,
        ]
        #expect(printed == expected)
    }
}
