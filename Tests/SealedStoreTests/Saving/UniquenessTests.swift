import Foundation
import ObjectGraph
@testable import SealedStore
import Testing

@Suite struct UniquenessTests {
    @Test func `a value that another object has is refused by entity and property`() throws {
        let folder = try TemporaryFolder()
        let library = try Library(folder.file("library.store"))
        let first = library.insert("Author", ["name": .text("A")])
        try library.context.save()
        let second = library.insert("Author", ["name": .text("A")])
        let error = #expect(throws: ObjectGraphError.self) { try library.context.save() }
        guard case .notUnique(let conflicts) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(conflicts.map(\.entity) == ["Author"])
        #expect(conflicts.map(\.properties) == [["name"]])
        #expect(conflicts.map(\.databaseObject) == [first.managedObjectID])
        #expect(conflicts.map(\.conflictingObjects) == [[second.managedObjectID]])
        // Repaired, the same context saves.
        second["name"] = .text("B")
        try library.context.save()
        #expect(try library.context.count(FetchRequest(library.entity("Author"))) == 2)
    }

    @Test func `a unique value can pass from a deleted object to a new one in one save`() throws {
        let folder = try TemporaryFolder()
        let library = try Library(folder.file("library.store"))
        let first = library.insert("Author", ["name": .text("A")])
        try library.context.save()
        library.context.delete(first)
        library.insert("Author", ["name": .text("A")])
        try library.context.save()
        #expect(try library.context.count(FetchRequest(library.entity("Author"))) == 1)
    }
}
