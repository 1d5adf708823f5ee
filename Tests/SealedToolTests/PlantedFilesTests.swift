import Foundation
import ObjectGraph
import SealedStore
import TestSupport
import Testing

/// Files that a person without the key has put beside a store, or changed.
@Suite("The tool beside planted files") struct PlantedFilesTests {
    private let folder = TemporaryFolder()
    private var store: String { folder.filePath("store") }
    private var victim: URL { folder.file("victim") }

    private static let entities = [EntityDescription("Note", attributes: [AttributeDescription("text", .string)])]
    private static let salt = "000102030405060708090a0b0c0d0e0f"

    init() throws {
        try StoreFixture.create(
            folder.file("store"),
            Self.entities,
            (0..<50).map { ("Note", ["text": .text("note \($0)")]) }
        )
        var note = Self.entities[0]
        note.attributes.append(AttributeDescription("title", .string, isOptional: true))
        try StoreFixture.create(folder.file("newer"), [note])
        try Data("{\"_entity\":\"Note\",\"_id\":1,\"text\":\"imported\"}\n".utf8).write(to: folder.file("in.jsonl"))
    }

    enum Command: String, CaseIterable {
        case inspect, query, check, repair, salvage, backup, compact, rekey, migrate
        case importInto, importFrom, json, csv, sqlite, model

        func arguments(_ store: String, _ folder: TemporaryFolder) -> [String] {
            let target = folder.filePath("target")
            switch self {
            case .inspect, .check, .repair, .compact: return [rawValue, store]
            case .query: return [rawValue, store, "Note"]
            case .salvage, .backup: return [rawValue, store, target]
            case .rekey: return [rawValue, store, "--new-key-env", "NEW"]
            case .migrate: return [rawValue, store, "--to", folder.filePath("newer")]
            case .importInto: return ["import", store, folder.filePath("in.jsonl"), "--from", "json"]
            case .importFrom:
                return ["import", target, store, "--from", "sqlcipher", "--source-key-env", "SEALED_PASSPHRASE"]
            case .json, .csv, .model: return ["export", store, target, "--to", rawValue]
            case .sqlite: return ["export", store, target, "--to", "plaintext-sqlite"]
            }
        }
    }

    private func run(_ command: Command, _ options: [String] = []) throws -> ToolResult {
        let variables = Tool.environment.merging(["NEW": "battery staple"]) { $1 }
        return try Tool.start(command.arguments(store, folder) + options, environment: variables).wait()
    }

    @Test(arguments: Command.allCases)
    func `a journal that names another file deletes nothing`(command: Command) throws {
        try Data("precious".utf8).write(to: victim)
        let pageCount = try Data(contentsOf: folder.file("store")).count / 4096
        try HotJournal.naming(victim.path, pageCount: pageCount).write(to: folder.file("store-journal"))
        let before = try folder.contents()
        let result = try run(command)
        #expect(result.status == 65, "\(result)")
        #expect(result.errors.contains("names a further file"), "\(result)")
        #expect(try folder.contents() == before)
        try FileManager.default.removeItem(at: folder.file("store-journal"))
        let allowed = try run(command)
        #expect(allowed.status == 0, "\(allowed)")
    }

    @Test(arguments: Command.allCases)
    func `a plaintext header with another number of pages ends no command in a crash`(command: Command) throws {
        let rekey = try run(.rekey, ["--new-salt", Self.salt])
        #expect(rekey.status == 0, "\(rekey)")
        var bytes = try Data(contentsOf: folder.file("store"))
        bytes[31] -= 1
        try bytes.write(to: folder.file("store"))
        let options =
            command == .importFrom ? ["--source-salt", Self.salt] : ["--key-env", "NEW", "--salt", Self.salt]
        let result = try run(command, options)
        // A salvage reads the pages of the file, whatever their number is. Status 1 reports a problem that was found; other
        // statuses below 64 are signals.
        #expect(result.status >= 64 || result.status == (command == .salvage ? 0 : 1), "\(result)")
        #expect(try Data(contentsOf: folder.file("store")) == bytes)
    }
}
