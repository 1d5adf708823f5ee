import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Metadata of a file, changed by a program with the key.
@Suite struct HostileMetadataTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Animal",
                attributes: [.init("name", .string), .init("weight", .double), .init("height", .double)],
                relationships: [.init("homes", to: "Home", .many, inverse: "animals", isOrdered: true)]
            ),
            EntityDescription("Dog", superentity: "Animal", attributes: [.init("breed", .string, isOptional: true)]),
            EntityDescription(
                "Home",
                attributes: [.init("name", .string)],
                relationships: [.init("animals", to: "Animal", .many, inverse: "homes")]
            ),
        ])
    }

    private func open() throws -> Library { try Library(url, model: Self.model()) }

    /// Changes the JSON under a key of the metadata, and opens the file.
    private func open(after key: String, _ change: (inout [String: Any]) -> Void) throws {
        let made = try open()
        defer { try? made.coordinator.removeAllStores() }
        try made.opened().database.write { connection in
            let text = try connection.withStatement(#"SELECT "value" FROM "_metadata" WHERE "key" = ?"#) { statement in
                try statement.bind(text: key, at: 1)
                return try statement.step() ? statement.string(at: 0) : ""
            }
            var object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            change(&object)
            let data = try JSONSerialization.data(withJSONObject: object)
            try connection.withStatement(#"UPDATE "_metadata" SET "value" = ? WHERE "key" = ?"#) { statement in
                try statement.bind(text: String(decoding: data, as: UTF8.self), at: 1)
                try statement.bind(text: key, at: 2)
                try statement.run()
            }
        }
        try open().coordinator.removeAllStores()
    }

    private func set(_ path: [String], to value: Any, in object: inout [String: Any]) {
        guard path.count > 1 else { return object[path[0]] = value }
        var inner = object[path[0]] as? [String: Any] ?? [:]
        set(Array(path.dropFirst()), to: value, in: &inner)
        object[path[0]] = inner
    }

    private static let names: [(path: [String], value: any Sendable)] = [
        (["codes", "Dog"], 1), (["codes", "Dog"], 0), (["codes", "Dog"], -1), (["codes"], [String: Int]()),
        (["signBits", "Animal", "weight"], 31), (["signBits", "Animal", "weight"], Int.max),
        (["signBits", "Animal", "weight"], -1), (["signBits", "Animal", "weight"], 1),
        (["tables", "Home"], "Animal"), (["tables", "Home"], "ANIMAL"), (["tables", "Home"], "_metadata"),
        (["tables", "Home"], "Ho\0me"), (["tables", "Home"], ""), (["tables"], [String: String]()),
        (["columns", "Animal", "name"], "_id"), (["columns", "Animal", "name"], "WEIGHT"),
        (["columns", "Dog", "breed"], "name"), (["columns", "Home"], [String: String]()),
        (["joinTables", "Animal", "homes"], "Home"), (["joinTables"], [String: String]()),
        (["codes", "Dog"], Int.max), (["codes", "Other"], Int.max), (["codes", "Other"], 0), (["codes"], "text"),
        (["codes", "Dog"], 1e300),
    ]

    @Test(arguments: names.indices)
    func `unexpected names in the metadata are damage`(index: Int) throws {
        let (path, value) = Self.names[index]
        #expect(throws: SealedStoreError.damagedMetadata("names")) {
            try open(after: "names") { set(path, to: value, in: &$0) }
        }
    }

    @Test func `names of other tables and columns are a foreign schema`() throws {
        #expect(throws: SealedStoreError.foreignSchema(object: "Home")) {
            try open(after: "names") { set(["tables", "Home"], to: "House", in: &$0) }
        }
    }

    private func entities(_ change: @escaping (inout [[String: Any]]) -> Void) -> (inout [String: Any]) -> Void {
        { model in
            var entities = model["entities"] as? [[String: Any]] ?? []
            change(&entities)
            model["entities"] = entities
        }
    }

    @Test func `a contradictory model is damage`() throws {
        let changes: [(inout [[String: Any]]) -> Void] = [
            { $0[0]["superentity"] = "Dog" },
            { $0[0]["superentity"] = "Animal" },
            { $0.append($0[0]) },
            { $0[0]["name"] = "" },
            { $0[0]["propertyOrder"] = ["name", "name"] },
            { entities in
                var attributes = entities[0]["attributes"] as? [[String: Any]] ?? []
                attributes[0]["type"] = "unheardOf"
                entities[0]["attributes"] = attributes
            },
            { entities in
                var relationships = entities[0]["relationships"] as? [[String: Any]] ?? []
                relationships[0]["minimumCount"] = -1
                entities[0]["relationships"] = relationships
            },
            { entities in
                for number in 0..<5_000 {
                    var entity = entities[2]
                    entity["name"] = "Level\(number)"
                    entity["superentity"] = number == 0 ? "Home" : "Level\(number - 1)"
                    entity["attributes"] = []
                    entity["relationships"] = []
                    entities.append(entity)
                }
            },
        ]
        for change in changes {
            #expect(throws: SealedStoreError.damagedMetadata("model")) {
                try open(after: "model", entities(change))
            }
            try FileManager.default.removeItem(at: url)
        }
    }

    @Test(arguments: ["0", "-1", "2", "3", "9223372036854775807", "x", ""])
    func `another format than the file's own is damage`(format: String) throws {
        let made = try open()
        try made.opened().database.write { connection in
            try connection.withStatement(#"UPDATE "_metadata" SET "value" = ? WHERE "key" = 'format'"#) { statement in
                try statement.bind(text: format, at: 1)
                try statement.run()
            }
        }
        #expect(throws: SealedStoreError.damagedMetadata("format")) { try open() }
    }
}
