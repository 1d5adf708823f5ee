import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Values longer than the largest row are errors of the save.
@Suite struct OverlongValueTests {
    /// Five billion zero bytes that occupy no memory.
    private static let overlong: Data = {
        let count = 5 << 30
        let pointer = mmap(nil, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)!
        return Data(bytesNoCopy: pointer, count: count, deallocator: .unmap)
    }()

    private let folder = TemporaryFolder()

    private func library(_ url: URL?) throws -> Library {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "File",
                attributes: [
                    AttributeDescription("name", .string), AttributeDescription("content", .data, isOptional: true),
                ]
            )
        ])
        return try Library(url, model: model)
    }

    private func expectTooLong(_ body: () throws -> Void) {
        let error = #expect(throws: ObjectGraphError.self, performing: body)
        guard case .validation(let problems) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(problems.map(\.property) == ["content"])
        #expect(problems.map(\.reason) == [.rowTooLong])
    }

    @Test(.enabled(if: MemoryLayout<Int>.size == 8), arguments: [true, false])
    func `an inserted or updated object with an overlong value is not saved`(_ isInFile: Bool) throws {
        let library = try library(isInFile ? folder.file("files.store") : nil)
        let file = library.insert("File", ["name": .text("long"), "content": .blob(Self.overlong)])
        expectTooLong { try library.context.save() }
        file["content"] = .blob(Data([1]))
        try library.context.save()
        file["content"] = .blob(Self.overlong)
        expectTooLong { try library.context.save() }
        file["content"] = .blob(Data([2]))
        try library.context.save()
        let other = ManagedObjectContext(coordinator: library.coordinator)
        let read = try other.fetch(FetchRequest(library.entity("File")), as: ManagedObject.self)
        #expect(read.map { $0["content"] } == [.blob(Data([2]))])
        let store = try #require(try library.store() as? SealedStore)
        #expect(try store.check() == [])
    }

    @Test(.enabled(if: MemoryLayout<Int>.size == 8)) func `a batch with an overlong value is not inserted`() throws {
        let library = try library(nil)
        let objects: [[String: Value]] = [
            ["name": .text("short"), "content": .blob(Data([1]))],
            ["name": .text("long"), "content": .blob(Self.overlong)],
        ]
        expectTooLong { _ = try library.context.execute(BatchInsertRequest(library.entity("File"), objects: objects)) }
        #expect(try library.context.count(FetchRequest(library.entity("File"))) == 0)
    }

    @Test(.enabled(if: MemoryLayout<Int>.size == 8)) func `a statement refuses an overlong value`() throws {
        let database = try Database(.memory, key: nil)
        try database.write { connection in
            try connection.execute("CREATE TABLE file (content BLOB) STRICT")
            #expect(throws: DatabaseError.tooBig) {
                try connection.withStatement("INSERT INTO file VALUES (?)") { statement in
                    try Self.overlong.withUnsafeBytes { try statement.bind(staticBlob: $0, at: 1) }
                    try statement.run()
                }
            }
        }
    }
}
