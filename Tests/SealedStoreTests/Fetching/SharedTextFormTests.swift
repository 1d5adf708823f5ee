import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// The first text in another form than C, written while other connections are open.
///
/// | reader                     | other container or process        |
/// |----------------------------|-----------------------------------|
/// | opens, finds one row       |                                   |
/// |                            | saves an equal text in another form |
/// | finds both                 |                                   |
@Suite struct SharedTextFormTests {
    private let folder = TemporaryFolder()
    private let file: URL

    init() throws {
        file = folder.file("library")
        let library = try Library(file)
        library.insert("Book", ["title": .text("caf\u{e9}")])
        try library.context.save()
        try library.coordinator.removeAllStores()
    }

    private func count(_ library: Library) throws -> Int {
        let title = library.path("Book", "title")
        let request = FetchRequest(
            library.entity("Book"),
            predicate: .comparison(.equal, title, .literal(.text("caf\u{e9}")))
        )
        return try library.context.count(request)
    }

    private static func saveDecomposed(_ library: Library) throws {
        library.insert("Book", ["title": .text("cafe\u{301}")])
        try library.context.save()
    }

    @Test func `another container of the process`() throws {
        let reader = try Library(file)
        #expect(try count(reader) == 1)
        let writer = try Library(file)
        try Self.saveDecomposed(writer)
        #expect(try count(reader) == 2)
        #expect(try reader.keys("Book", nil).count == 2)
        #expect(try count(writer) == 2)
        #expect(try reader.check() == [])
    }

    @Test func `another process`() async throws {
        let reader = try Library(file)
        #expect(try count(reader) == 1)
        let path = file.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            try SharedTextFormTests.saveDecomposed(Library(URL(filePath: path)))
        }
        #expect(try count(reader) == 2)
        #expect(try reader.check() == [])
    }

    @Test func `a batch update changes the rows of both forms`() throws {
        let reader = try Library(file)
        #expect(try count(reader) == 1)
        try Self.saveDecomposed(Library(file))
        var request = BatchUpdateRequest(
            reader.entity("Book"),
            predicate: .comparison(.equal, reader.path("Book", "title"), .literal(.text("caf\u{e9}")))
        )
        request.propertiesToUpdate = ["pages": .literal(.integer(7))]
        _ = try reader.context.execute(request)
        #expect(try reader.integers(#"SELECT count(*) FROM "Book" WHERE "pages" = 7"#) == [2])
    }

    @Test func `a context that is pinned to an earlier state, and one to a later state`() throws {
        let reader = try Library(file)
        let earlier = ManagedObjectContext(coordinator: reader.coordinator)
        try earlier.setQueryGeneration(from: .current)
        try Self.saveDecomposed(Library(file))
        let later = ManagedObjectContext(coordinator: reader.coordinator)
        try later.setQueryGeneration(from: .current)
        let request = FetchRequest(
            reader.entity("Book"),
            predicate: .comparison(.equal, reader.path("Book", "title"), .literal(.text("caf\u{e9}")))
        )
        #expect(try later.count(request) == 2)
        #expect(try earlier.count(request) == 1)
        #expect(try count(reader) == 2)
        #expect(try later.count(request) == 2)
    }

    @Test func `a rolled back save has no effect, and a later one is noticed`() throws {
        let reader = try Library(file)
        let other = try Library(file)
        struct Stop: Error {}
        let opened = try other.opened()
        #expect(throws: Stop.self) {
            try opened.database.write { connection in
                try TextForms.note([#""Book"."title""#], on: connection)
                #expect(try opened.states.state(on: connection).schema.conditions.columnsOfMixedForms.count == 1)
                throw Stop()
            }
        }
        #expect(
            try opened.database.write { try opened.states.state(on: $0).schema.conditions.columnsOfMixedForms } == []
        )
        try Self.saveDecomposed(reader)
        #expect(try count(other) == 2)
        #expect(
            try opened.database.write { try opened.states.state(on: $0).schema.conditions.columnsOfMixedForms.count }
                == 1
        )
    }
}
