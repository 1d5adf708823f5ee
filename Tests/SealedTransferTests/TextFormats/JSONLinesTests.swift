import EncryptedSQLite
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import SealedTransfer

struct JSONLinesTests {
    private let folder = TemporaryFolder()

    private func target(_ options: ImportOptions = ImportOptions()) throws -> StoreImport {
        StoreImport(into: folder.file("store"), key: Harbour.key, model: try Harbour.model(), options: options)
    }

    private func file(_ text: String) throws -> URL {
        try Data(text.utf8).write(to: folder.file("objects.jsonl"))
        return folder.file("objects.jsonl")
    }

    @Test func `identifiers may be texts and may be used before their objects`() throws {
        let report = try target().importJSONLines(
            from: file(
                """
                {"_entity":"Person","_id":"ann","name":"Ann","vessel":"v1","children":["bob","cy"]}\r
                {"_entity":"Vessel","_id":"v1","name":"Ark","captain":"bob","passengers":["cy","ann"]}

                {"_entity":"Person","_id":"bob","name":"Bob"}
                {"_entity":"Person","_id":"cy","name":"Cy"}
                """
            )
        )
        #expect(report.objectCount == 4)
        let store = try TestStore(folder.file("store"))
        let ark = try #require(try store.objects("Vessel").first)
        let names = ark.members(forRelationship: "passengers").map { ($0 as? ManagedObject)?["name"] }
        #expect(names == [.text("Cy"), .text("Ann")])
        let captain = ark.destination(forRelationship: "captain") as? ManagedObject
        #expect(captain?["name"] == .text("Bob"))
        #expect(captain?.destination(forRelationship: "command") as? ManagedObject === ark)
        try store.check()
    }

    @Test(arguments: [
        (#"{"_entity":"Person","name":}"#, 1, 28, "a value is expected"),
        (#"{"_entity":"Person","name":1}"#, 1, 28, "Person.name: the value is not of type string"),
        (#"{"_entity":"Planet"}"#, 1, 12, "the model has no such entity"),
        (#"{"name":"x"}"#, 1, 1, "the object has no member '_entity'"),
        (#"{"_entity":"Person","name":"x","age":1}"#, 1, 38, "'Person' has no property 'age'"),
        ("{\"_entity\":\"Person\",\"name\":\"x\"}\n{\"_entity\":\"Person\"}", 2, 1, "Person.name: required"),
        (#"{"_entity":"Vessel","name":"x","int8":128}"#, 1, 39, "Vessel.int8: the value is not of type int8"),
        (
            #"{"_entity":"Vessel","name":"x","decimal":"1.0000000000000000000000000000000000000000001"}"#, 1, 42,
            "Vessel.decimal: the value is not of type decimal"
        ),
        (#"{"_entity":"Vessel","name":"\ud800"}"#, 1, 28, "Vessel.name: the value is not of type string"),
        ("{\"_entity\":\"Vessel\",\"name\":\"\u{1}\"}", 1, 29, "a control character in a string is not escaped"),
        ("[]", 1, 1, "a line has an object"),
        (#"{"_entity":"Person","name":"x","name":"y"}"#, 1, 32, "a member's name is not a text, or occurs twice"),
        (String(repeating: "[", count: 600), 1, 513, "the nesting is deeper than 512"),
    ])
    func `errors name line and column`(text: String, line: Int, column: Int, reason: String) throws {
        let error = #expect(throws: TransferError.self) { try target().importJSONLines(from: file(text)) }
        guard case .malformed("objects.jsonl", line, column, let found)? = error else {
            Issue.record("\(error.map { "\($0)" } ?? "no error")")
            return
        }
        #expect(
            found.hasPrefix(reason.prefix(found.utf8.count))
                || reason == "Person.name: required" && found.hasPrefix("Person.name")
        )
        #expect(try folder.names() == ["objects.jsonl"])
    }

    @Test func `dangling references are refused or omitted`() throws {
        let text = """
            {"_entity":"Person","_id":1,"name":"Ann","vessel":9,"children":[2,7]}
            {"_entity":"Person","_id":2,"name":"Bob","bookings":[5]}
            """
        let error = #expect(throws: TransferError.self) { try target().importJSONLines(from: file(text)) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("Person"))
        var options = ImportOptions()
        options.unfitContent = .omit
        let report = try target(options).importJSONLines(from: file(text))
        #expect(report.omitted.map(\.property).sorted() == ["bookings", "children", "vessel"])
        let store = try TestStore(folder.file("store"))
        #expect(try store.count("Person") == 2)
        try store.check()
    }

    @Test func `an import into a store is one transaction, which refuses or updates existing objects`() throws {
        try target().importJSONLines(
            from: file(
                """
                {"_entity":"Vessel","_id":1,"name":"Ark","int8":1,"int16":2,"passengers":[5]}
                {"_entity":"Person","_id":5,"name":"Ann"}
                """
            )
        )
        let update = try file(
            """
            {"_entity":"Vessel","_id":"new","name":"Nova"}
            {"_entity":"Vessel","_id":1,"name":"Ark","int8":7,"passengers":["bob"],"consorts":["new"]}
            {"_entity":"Person","_id":"bob","name":"Bob"}
            """
        )
        #expect(throws: TransferError.notUnique(entity: "Vessel", properties: ["name"])) {
            try target().importJSONLines(from: update)
        }
        var store = try TestStore(folder.file("store"))
        #expect(try store.count("Vessel") == 1)
        try store.close()

        var options = ImportOptions()
        options.existingObjects = .update
        let report = try target(options).importJSONLines(from: update)
        #expect(report.entities.map(\.inserted) == [1, 1] && report.entities.map(\.updated) == [1, 0])
        store = try TestStore(folder.file("store"))
        let ark = try #require(try store.objects("Vessel").first { $0["name"] == .text("Ark") })
        #expect(ark["int8"] == .integer(7) && ark["int16"] == .integer(2))
        let names = ark.members(forRelationship: "passengers").map { ($0 as? ManagedObject)?["name"] }
        #expect(names == [.text("Bob")])
        #expect(ark.members(forRelationship: "consorts").count == 1)
        try store.check()
    }

    @Test func `contradictory sides of a relationship are refused`() throws {
        let text = """
            {"_entity":"Person","_id":1,"name":"Ann","command":10}
            {"_entity":"Person","_id":2,"name":"Bob"}
            {"_entity":"Vessel","_id":10,"name":"Ark","captain":2}
            """
        let error = #expect(throws: TransferError.self) { try target().importJSONLines(from: file(text)) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("inverse"))
    }

    @Test func `two objects of one identifier are refused`() throws {
        for id in ["1", "\"a\""] {
            let line = "{\"_entity\":\"Person\",\"_id\":\(id),\"name\":\"Ann\"}\n"
            #expect(throws: TransferError.self) { try target().importJSONLines(from: file(line + line)) }
        }
        #expect(try folder.names() == ["objects.jsonl"])
    }

    @Test func `lines that are too long are refused`() throws {
        var options = ImportOptions()
        options.limits.lineByteCount = 100
        let text = "{\"_entity\":\"Person\",\"_id\":1,\"name\":\"A\"}\n" + String(repeating: " ", count: 101)
        #expect(throws: TransferError.lineTooLong(file: "objects.jsonl", line: 2)) {
            try target(options).importJSONLines(from: file(text))
        }
    }

    @Test func `a cancelled import leaves nothing`() throws {
        let progress = Progress(totalUnitCount: 1)
        progress.cancel()
        let text = String(repeating: "{\"_entity\":\"Person\",\"name\":\"A\"}\n", count: 1_000)
        #expect(throws: CancellationError.self) { try target().importJSONLines(from: file(text), progress: progress) }
        #expect(try folder.names() == ["objects.jsonl"])
    }

    @Test func `progress reaches its end`() throws {
        let progress = Progress(totalUnitCount: 1)
        let text = String(repeating: "{\"_entity\":\"Person\",\"name\":\"A\"}\n", count: 1_000)
        try target().importJSONLines(from: file(text), progress: progress)
        #expect(progress.isFinished)
        let export = Progress(totalUnitCount: 1)
        try StoreExport(from: folder.file("store"), key: Harbour.key)
            .exportJSONLines(to: folder.file("copy.jsonl"), progress: export)
        #expect(export.isFinished)
    }

    @Test func `an export replaces no file and is readable by its owner only`() throws {
        try target().importJSONLines(from: file("{\"_entity\":\"Person\",\"name\":\"A\"}"))
        let export = StoreExport(from: folder.file("store"), key: Harbour.key)
        #expect(throws: DatabaseError.self) { try export.exportJSONLines(to: folder.file("objects.jsonl")) }
        try export.exportJSONLines(to: folder.file("new.jsonl"))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.filePath("new.jsonl"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try folder.names().filter { $0.hasPrefix(".") } == [])
    }
}
