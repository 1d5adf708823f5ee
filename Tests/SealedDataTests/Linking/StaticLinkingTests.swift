import Foundation
import Testing

/// A linker takes from a static library only the object files that are named by others. An object file with nothing but
/// a conformance that the runtime is to find would be left out, and with it the conformance.
@Suite struct StaticLinkingTests {
    private static let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardizedFileURL

    /// A conformance in an extension.
    private struct Conformance {
        let file: String
        let type: String
        let protocols: [String]
    }

    private static let modules = [
        "Guarded", "QueryLanguage", "ObjectGraph", "EncryptedSQLite", "SealedStore", "SealedTransfer", "SealedData",
        "SealedDataCombine", "SealedDataSwiftUI",
    ]

    /// The texts of the source files, by path.
    private static func texts() throws -> [String: String] {
        var texts: [String: String] = [:]
        for module in modules {
            let files = FileManager.default.enumerator(atPath: sources.appending(path: module).path)
            for case let path as String in try #require(files) where path.hasSuffix(".swift") {
                let file = "\(module)/\(path)"
                texts[file] = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            }
        }
        return texts
    }

    private static func conformances(in texts: [String: String]) -> [Conformance] {
        let pattern = #/\n\s*(?:(?:public|package) )?extension ([\w.]+)(?:<[^\n]*>)?\s*: ([^{]*)/#
        return texts.sorted { $0.key < $1.key }.flatMap { file, text in
            ("\n" + text).matches(of: pattern).map { match in
                let list = String(match.2).components(separatedBy: "where")[0].split(separator: ",")
                let protocols = list.map { $0.split(separator: " ").last.map(String.init) ?? "" }
                return Conformance(
                    file: file,
                    type: String(match.1),
                    protocols: protocols.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
                )
            }
        }
    }

    /// Whether a file declares a type or a protocol.
    private static func declares(_ name: String, _ text: String) throws -> Bool {
        let last = name.split(separator: ".").last.map(String.init) ?? name
        return text.contains(try Regex("\\b(struct|class|enum|actor|protocol) \(last)\\b"))
    }

    @Test func `a conformance stands in the file of its type or protocol, or its file is named`() throws {
        let texts = try Self.texts()
        let conformances = Self.conformances(in: texts)
        #expect(conformances.count > 100, "the search finds conformances")
        let list = try #require(texts["SealedData/Predicates/ReadableExpression.swift"])
        let named = Set(
            conformances.filter { list.contains("\($0.type)<") && $0.protocols.contains("ReadableExpression") }
                .map(\.file)
        )
        // The file declares the errors of each store.
        let linked = ["SealedStore/SealedStoreError.swift"]
        for conformance in conformances where !linked.contains(conformance.file) {
            let text = try #require(texts[conformance.file])
            if try Self.declares(conformance.type, text) { continue }
            for name in conformance.protocols where name != "Sendable" {
                if try Self.declares(name, text) || name == "ReadableExpression" && named.contains(conformance.file) {
                    continue
                }
                Issue.record("\(conformance.file): \(conformance.type): \(name)")
            }
        }
    }
}
