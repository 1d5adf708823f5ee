import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import TestSupport
import Testing

/// Names, values and paths that would change a terminal, or that look like other ones.
@Suite struct HostileNameTests {
    private let folder = TemporaryFolder()
    private var store: String { folder.filePath("a.store") }

    /// Characters that a terminal acts on, or does not show, and a line that looks like an error.
    private static let hidden =
        "\u{1B}[2J\u{7F}\u{9B}31m\u{61C}\u{200B}\u{200E}\u{202E}\u{2028}\u{2066}\u{E0041}\nError: forged"
    private static let entityName = "Entity" + hidden
    private static let attributeName = "text" + hidden
    private static let unique = "unique" + hidden

    /// A raw key, with which a store opens at once.
    private static let environment = ["SEALED_PASSPHRASE": String(repeating: "07", count: 32)]

    private func create(_ file: String, _ objects: [(entity: String, values: [String: Value])] = []) throws {
        let entities =
            file == "newer.store" ? [Self.entity(and: [.init("new" + Self.hidden, .string)])] : [Self.entity()]
        try StoreFixture.create(
            folder.file(file),
            entities,
            objects,
            key: .raw(Array(repeating: 7, count: 32))
        )
    }

    private func run(_ arguments: [String]) throws -> ToolResult {
        try Tool.start(arguments + ["--raw-key"], environment: Self.environment).wait()
    }

    private static func entity(and added: [AttributeDescription] = []) -> EntityDescription {
        EntityDescription(
            entityName,
            attributes: [
                .init(attributeName, .string), .init("part", .composite, isOptional: true),
                .init(unique, .int64, isOptional: true),
            ] + added,
            relationships: [.init("next" + hidden, to: entityName, .one)],
            indexes: [.init([attributeName])],
            uniquenessConstraints: [[unique]]
        )
    }

    private func write() throws {
        let values: [String: Value] = [
            Self.attributeName: .text(Self.hidden), "part": .text("{\"a\":\t\"\u{9B}\u{202E}\"}"),
            Self.unique: .integer(1),
        ]
        try create("a.store", [(entity: Self.entityName, values: values)])
    }

    /// Expects that a terminal shows each character of the output, and that no line is that of a name.
    private func expectVisible(_ texts: String..., comment: Comment) {
        for text in texts {
            let hidden: [Unicode.GeneralCategory] = [.control, .format, .lineSeparator, .paragraphSeparator]
            let found = text.unicodeScalars.filter { $0 != "\n" && hidden.contains($0.properties.generalCategory) }
            #expect(found.map(\.value) == [], comment)
            #expect(!text.contains("\nError: forged"), comment)
        }
    }

    @Test func `each command shows names, values and paths in visible characters`() throws {
        try write()
        let hostile = folder.filePath(Self.hidden)
        try Data("{\"_entity\":\"Entity\u{9B}\"}\n".utf8).write(to: URL(filePath: hostile))
        try FileManager.default.createDirectory(at: folder.file("csv"), withIntermediateDirectories: true)
        try Data().write(to: folder.file("csv/\(Self.hidden).txt"))
        let newer = folder.file("newer.store")
        try create("newer.store")
        let commands: [([String], Int32)] = [
            (["inspect", store], 0), (["query", store, Self.entityName], 0),
            (["query", store, Self.entityName, "--format", "json"], 0), (["query", store, "None"], 64),
            (["query", store, Self.hidden], 64), (["query", store, Self.entityName, "--where", "tex\u{9B}t == 1"], 64),
            (["check", store, "--json"], 0), (["check", hostile], 65), (["check", hostile + "/none"], 73),
            (["backup", store, hostile], 73), (["backup", store, folder.filePath("b\u{9B}.store")], 0),
            (["salvage", store, folder.filePath("c.store")], 0),
            (["salvage", store, folder.filePath("d.store"), "--json"], 0),
            (["migrate", store, "--to", newer.path, "--dry-run", "--sql"], 1), (["repair", store], 0),
            (["export", store, folder.filePath("x.jsonl"), "--to", "json"], 0),
            (["export", store, folder.filePath("x.json"), "--to", "model"], 0),
            (["export", store, folder.filePath("y"), "--to", "json", "--entity", Self.hidden], 65),
            (["import", store, folder.filePath("x.jsonl"), "--from", "json"], 65),
            (["import", store, folder.filePath("x.jsonl"), "--from", "json", "--update", "--json"], 0),
            (["import", store, hostile, "--from", "json"], 65),
            (["import", store, folder.filePath("csv"), "--from", "csv", "--omit"], 0),
            (["import", store, hostile, "--from", "sqlite", "--interpret", Self.hidden], 64),
            (["import", folder.filePath("n"), hostile, "--from", "json", "--model", hostile], 64),
            (["check", store, "--key-file", hostile + "x"], 77), (["check", store, "--key-env", Self.hidden], 77),
            ([Self.hidden], 64), (["check", store, "--" + Self.hidden], 64), (["check", store, Self.hidden], 64),
        ]
        for (arguments, status) in commands {
            let result = try run(arguments)
            expectVisible(
                result.output,
                result.errors,
                comment: "\(arguments.map(\.debugDescription)): \(result)"
            )
            #expect(result.status == status, "\(arguments.map(\.debugDescription)): \(result)")
        }
        for name in ["x.jsonl", "x.json"] {
            let text = try String(contentsOf: folder.file(name), encoding: .utf8)
            expectVisible(text, comment: "\(name)")
        }
    }

    @Test func `JSON of a query has the names and values exactly`() throws {
        try write()
        let result = try run(["query", store, Self.entityName, "--format", "json"])
        let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        #expect(object?[Self.attributeName] as? String == Self.hidden)
        #expect(object?["part"] as? [String: String] == ["a": "\u{9B}\u{202E}"])
    }

    @Test func `a report of problems is valid JSON in visible characters`() throws {
        try write()
        let column = "next" + Self.hidden
        let sql = "PRAGMA foreign_keys = OFF; UPDATE \"\(Self.entityName)\" SET \"\(column)\" = 99;"
        let key = "PRAGMA key = \"x'\(String(repeating: "07", count: 32))'\";"
        let changed = try TestSupport.run("sqlcipher", [store], input: "\(key) \(sql)")
        #expect(changed.errors == "")
        let lines = try run(["check", store])
        #expect(lines.status == 1)
        expectVisible(lines.output, lines.errors, comment: "\(lines)")
        let json = try run(["check", store, "--json"])
        expectVisible(json.output, json.errors, comment: "\(json)")
        let report = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        let problems = report?["problems"] as? [[String: Any]]
        #expect(problems?.contains { $0["entity"] as? String == Self.entityName } == true, "\(json)")
    }

    @Test func `a spreadsheet export is an option of CSV`() throws {
        try write()
        let export = ["export", store, folder.filePath("x"), "--spreadsheet-safe", "--to"]
        #expect(try run(export + ["json"]).status == 64)
        #expect(try run(export + ["csv"]).status == 0)
    }

    // MARK: The code

    @Test func `all output passes through the two places that make it visible`() throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardizedFileURL
        let writing =
            #/(^|[^.\w])print\(|FileHandle\.standard(Output|Error)|STD(OUT|ERR)_FILENO|\bf?puts\(|fwrite\(/#
        for tool in ["sealed", "sealed-demo"] {
            let files = FileManager.default.enumerator(atPath: sources.appending(path: tool).path)
            for case let path as String in try #require(files) where path.hasSuffix(".swift") {
                let text = try String(contentsOf: sources.appending(path: "\(tool)/\(path)"), encoding: .utf8)
                for line in text.split(separator: "\n") where line.contains(writing) {
                    // The check of the descriptors before any output.
                    if path == "ProcessSetup.swift", line.contains("STDIN_FILENO...STDERR_FILENO") { continue }
                    Issue.record("\(tool)/\(path): \(line)")
                }
            }
        }
    }
}
