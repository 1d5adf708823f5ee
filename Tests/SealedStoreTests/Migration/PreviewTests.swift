import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Migrations that are examined and not carried out.
@Suite struct PreviewTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private func preview(_ entities: [EntityDescription]) throws -> MigrationPreview {
        try SealedStore.migrationPreview(
            of: MigratingStore.description(url),
            to: ManagedObjectModel(entities: entities)
        )
    }

    private func write() throws {
        let store = try MigratingStore(
            url,
            [
                EntityDescription("Trip", attributes: [.init("name", .string)]),
                EntityDescription("Stop", attributes: [.init("number", .int64)], indexes: [.init(["number"])]),
            ]
        )
        for number in 0..<50 {
            store.insert("Trip", ["name": .text("a")])
            store.insert("Stop", ["number": .integer(Int64(number))])
        }
        try store.saveAndClose()
    }

    @Test func `the steps have their order, statements and rows, and the store stays as it is`() throws {
        try write()
        let before = try folder.contents()
        let preview = try preview([
            EntityDescription("Journey", attributes: [.init("name", .string)], renamingIdentifier: "Trip"),
            EntityDescription("Stop", attributes: [.init("number", .string)], indexes: [.init(["number"])]),
        ])
        #expect(
            preview.steps.map(\.description) == [
                "rebuild table Stop (50 row(s))", "remove table Stop", "rename table Journey", "rename table Stop",
                "build index Stop.number", "record model",
            ]
        )
        #expect(preview.steps[2].sql == [#"ALTER TABLE "Trip" RENAME TO "Journey""#])
        #expect(preview.differences == ["entity 'Journey' was 'Trip'", "property 'Stop.number' has another type"])
        #expect(preview.problems == [])
        #expect(preview.expectedSpace > 0)
        #expect(try folder.contents() == before)
    }

    @Test func `the files stay as they are, with and without a log and permissions`() throws {
        try write()
        let next = [EntityDescription("Trip", attributes: [.init("name", .string)])]
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: url.path)
        let names = try folder.names()
        _ = try preview(next)
        #expect(try folder.names().filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") } == names)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        let open = try MigratingStore(
            url,
            [
                EntityDescription("Trip", attributes: [.init("name", .string)]),
                EntityDescription("Stop", attributes: [.init("number", .int64)]),
            ]
        )
        open.insert("Trip", ["name": .text("b")])
        try open.context.save()
        let before = try folder.contents()
        #expect(before["a.store-wal"]?.isEmpty == false)
        #expect(try preview(next).steps.map(\.kind) == [.recordModel])
        let after = try folder.contents()
        #expect(after["a.store"] == before["a.store"] && after["a.store-wal"] == before["a.store-wal"])
        #expect(try open.problems() == [])
    }

    @Test func `problems are counted, and contain no value`() throws {
        try write()
        let preview = try preview([
            EntityDescription("Trip", attributes: [.init("name", .int64)], uniquenessConstraints: [["name"]]),
            EntityDescription("Stop", attributes: [.init("number", .uint8), .init("new", .date)]),
        ])
        #expect(
            preview.problems.map(\.description) == [
                "Trip.name: not exactly convertible from string to int64 (50 row(s))",
                "Stop.new: no value for a required property without a default value (50 row(s))",
            ]
        )
    }

    @Test func `indexes and rules that opening adds are steps`() throws {
        try write()
        let before = try folder.contents()
        var next = [
            EntityDescription(
                "Trip",
                attributes: [.init("name", .string)],
                indexes: [.init(["name"], kind: .fullText(.init()))],
                renamingIdentifier: "Journey"
            ),
            EntityDescription("Stop", attributes: [.init("number", .int64)], indexes: [.init(["number"])]),
        ]
        let preview = try preview(next)
        #expect(preview.steps.map(\.description) == ["build index Trip.name", "record model"])
        #expect(preview.steps[0].sql.contains { $0.hasPrefix("CREATE VIRTUAL TABLE") })
        #expect(preview.differences == [] && preview.problems == [])
        #expect(preview.expectedSpace > 0)
        #expect(try folder.contents() == before)
        let store = try MigratingStore(url, next)
        let definitions = try store.definitions()
        #expect(preview.steps[0].sql.allSatisfy { !$0.hasPrefix("CREATE") || definitions.contains($0) })
        try store.close()
        #expect(try self.preview(next).steps == [])
        next[0].indexes = []
        #expect(try self.preview(next).steps == [])
    }

    @Test func `an index of a table that keeps its rows needs space, and a merge needs twice as much`() throws {
        try write()
        let model = { (isUnique: Bool, indexes: [FetchIndexDescription]) in
            [
                EntityDescription(
                    "Trip",
                    attributes: [.init("name", .string), .init("note", .string, isOptional: true)],
                    uniquenessConstraints: isUnique ? [["name"]] : []
                ),
                EntityDescription("Stop", attributes: [.init("number", .int64)], indexes: indexes),
            ]
        }
        let number = FetchIndexDescription(["number"])
        #expect(try preview(model(false, [number])).expectedSpace == 0)
        let index = try preview(model(false, [number, .init(["number"], kind: .rtree)])).expectedSpace
        #expect(index > 0)
        let merge = try SealedStore.migrationPreview(
            of: MigratingStore.description(
                url,
                options: [SealedStore.duplicateRulesOption: [DuplicateRule(entity: "Trip")]]
            ),
            to: ManagedObjectModel(entities: model(true, [number]))
        )
        #expect(merge.problems == [] && merge.expectedSpace == 2 * index)
    }

    @Test func `a store of the model needs no step`() throws {
        try write()
        let preview = try preview([
            EntityDescription("Trip", attributes: [.init("name", .string)]),
            EntityDescription("Stop", attributes: [.init("number", .int64)]),
        ])
        #expect(preview.steps == [])
        #expect(preview.differences == [])
    }
}
