import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import SealedTransfer

/// An import restores the values of an export bit for bit.
struct RoundTripTests {
    @Test(arguments: SeededGenerator.seeds(3, after: [1]))
    func `JSON lines restore each value and relationship`(seed: UInt64) throws {
        try roundTrip(seed) { export, target, folder in
            try export.exportJSONLines(to: folder.file("objects.jsonl"))
            try target.importJSONLines(from: folder.file("objects.jsonl"))
        }
    }

    @Test(arguments: SeededGenerator.seeds(3, after: [1]))
    func `CSV restores each value and relationship`(seed: UInt64) throws {
        try roundTrip(seed) { export, target, folder in
            try export.exportCSV(to: folder.file("objects"))
            try target.importCSV(from: folder.file("objects"))
        }
    }

    @Test func `properties can have the names of the format`() throws {
        let folder = TemporaryFolder()
        let names = ["_id", "_entity", "__id", "___entity", "id", "entity", "_identity"]
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Page",
                attributes: names.map { AttributeDescription($0, .string, isOptional: true) },
                relationships: [RelationshipDescription("_", to: "Page", .many)]
            )
        ])
        let original = try TestStore(folder.file("original"), model)
        let values = Dictionary(uniqueKeysWithValues: names.map { ($0, Value.text("the \($0)")) })
        let page = original.insert("Page", values)
        original.insert("Page", ["_id": "another"]).setMembers([page], for: "_")
        try original.context.save()
        let export = StoreExport(from: folder.file("original"), key: Harbour.key)
        try export.exportJSONLines(to: folder.file("pages.jsonl"))
        try export.exportCSV(to: folder.file("pages"))
        try StoreImport(into: folder.file("json"), key: Harbour.key, model: model)
            .importJSONLines(from: folder.file("pages.jsonl"))
        try StoreImport(into: folder.file("csv"), key: Harbour.key, model: model).importCSV(from: folder.file("pages"))
        for name in ["json", "csv"] {
            let copy = try TestStore(folder.file(name), model)
            try expectEqual(original, copy, "\(name)")
            try copy.check()
        }
    }

    @Test func `a name of the format leads to one property`() throws {
        let folder = TemporaryFolder()
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Page", attributes: ["__id", "_entity"].map { .init($0, .string, isOptional: true) })
        ])
        func isRefused(_ name: String, _ content: String, _ run: (StoreImport, URL) throws -> Void) throws -> Bool {
            let file = folder.file(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(content.utf8).write(to: file)
            do {
                try run(StoreImport(into: folder.file("\(name).store"), key: Harbour.key, model: model), file)
                return false
            } catch is TransferError {
                return true
            }
        }
        func json(_ name: String, _ members: String) throws -> Bool {
            try isRefused(name, "{\"_entity\":\"Page\",\"_id\":1,\(members)}\n") { try $0.importJSONLines(from: $1) }
        }
        func csv(_ name: String, _ header: String, _ record: String) throws -> Bool {
            try isRefused("\(name)/Page.csv", "\(header)\r\n\(record)\r\n") {
                try $0.importCSV(from: $1.deletingLastPathComponent())
            }
        }
        #expect(try !json("a", #""___id":"x","__entity":"y""#))
        #expect(try json("b", #""___id":"x","__id":"y""#), "the entity has no property '_id'")
        #expect(try !csv("c", "_id,___id,__entity", "1,x,y"))
        #expect(try !csv("d", "_id,_entity", "1,y"))
        #expect(try csv("e", "_id,_entity,__entity", "1,x,y"))
    }

    @Test(arguments: SeededGenerator.seeds(25))
    func `stores of random models are restored`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        print(generator)
        let folder = TemporaryFolder()
        let model = try RandomModel.make(&generator)
        let original = try TestStore(folder.file("original"), model)
        try RandomModel.fill(original, &generator)
        let export = StoreExport(from: folder.file("original"), key: Harbour.key)
        func target(_ name: String) -> StoreImport {
            StoreImport(into: folder.file(name), key: Harbour.key, model: model)
        }
        try export.exportJSONLines(to: folder.file("objects.jsonl"))
        try target("json").importJSONLines(from: folder.file("objects.jsonl"))
        try export.exportCSV(to: folder.file("objects"))
        try target("csv").importCSV(from: folder.file("objects"))
        for name in ["json", "csv"] {
            let copy = try TestStore(folder.file(name), model)
            try expectEqual(original, copy, "\(name) SEED=\(seed)")
            try copy.check()
        }
        try export.exportPlaintext(to: folder.file("plain.db"))
        let check = try run(
            "sqlite3",
            [folder.filePath("plain.db")],
            input: "PRAGMA integrity_check; PRAGMA foreign_key_check;"
        )
        #expect(check.output == "ok\n" && check.errors == "", "SEED=\(seed)")
    }

    private func roundTrip(
        _ seed: UInt64,
        _ transfer: (StoreExport, StoreImport, TemporaryFolder) throws -> Void
    ) throws {
        var generator = SeededGenerator(seed: seed)
        print(generator)
        let folder = TemporaryFolder()
        let model = try Harbour.model()
        let original = try TestStore(folder.file("original"), model)
        try Harbour.fill(original, count: 300, &generator)
        let target = StoreImport(into: folder.file("copy"), key: Harbour.key, model: model)
        try transfer(StoreExport(from: folder.file("original"), key: Harbour.key), target, folder)
        let copy = try TestStore(folder.file("copy"), model)
        try expectEqual(original, copy, "SEED=\(seed)")
        try copy.check()
        try original.close()
        try copy.close()
        #expect(try folder.names().filter { $0.hasPrefix(".") } == [])
    }
}
