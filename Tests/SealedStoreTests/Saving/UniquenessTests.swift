import Foundation
import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite struct UniquenessTests {
    @Test func `a duplicate value is refused by entity and property`() throws {
        let folder = TemporaryFolder()
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
        // With another value the same context saves.
        second["name"] = .text("B")
        try library.context.save()
        #expect(try library.context.count(FetchRequest(library.entity("Author"))) == 2)
    }

    @Test func `a unique value can move from a deleted object to a new one in one save`() throws {
        let folder = TemporaryFolder()
        let library = try Library(folder.file("library.store"))
        let first = library.insert("Author", ["name": .text("A")])
        try library.context.save()
        library.context.delete(first)
        library.insert("Author", ["name": .text("A")])
        try library.context.save()
        #expect(try library.context.count(FetchRequest(library.entity("Author"))) == 1)
    }

    @Test func `texts that are equal in Swift are one value in every form`() throws {
        let folder = TemporaryFolder()
        let library = try Library(folder.file("library.store"))
        library.insert("Author", ["name": .text("Ren\u{e9}")])
        library.insert("Author", ["name": .text("Zoe\u{308}")])
        try library.context.save()
        for name in ["Rene\u{301}", "Zo\u{eb}"] {
            let author = library.insert("Author", ["name": .text(name)])
            let error = #expect(throws: ObjectGraphError.self) { try library.context.save() }
            guard case .notUnique(let conflicts) = error else {
                Issue.record("another error: \(String(describing: error))")
                return
            }
            #expect(conflicts.map(\.properties) == [["name"]])
            #expect(conflicts.map { $0.databaseObject == nil } == [false])
            author["name"] = .text(name + "!")
            try library.context.save()
        }
        #expect(try library.context.count(FetchRequest(library.entity("Author"))) == 4)
    }

    @Test func `many texts are compared like few, in a save and in a batch`() throws {
        let folder = TemporaryFolder()
        let library = try Library(folder.file("library.store"))
        for number in 0..<20 { library.insert("Author", ["name": .text("e\u{301}\(number)")]) }
        try library.context.save()
        for number in 19..<40 { library.insert("Author", ["name": .text("\u{e9}\(number)")]) }
        #expect(throws: ObjectGraphError.self) { try library.context.save() }
        library.context.rollback()
        for number in 20..<40 { library.insert("Author", ["name": .text("\u{e9}\(number)")]) }
        try library.context.save()

        let author = library.entity("Author")
        var update = BatchUpdateRequest(author)
        update.predicate = .comparison(
            .equal,
            .path(author.propertiesByName["name"]!),
            .literal(.text("\u{e9}30"))
        )
        update.propertiesToUpdate = ["name": .literal(.text("\u{e9}7"))]
        #expect(throws: ObjectGraphError.self) { _ = try library.context.execute(update) }
        update.propertiesToUpdate = ["name": .literal(.text("\u{e9}50"))]
        _ = try library.context.execute(update)
        #expect(try library.context.count(FetchRequest(author)) == 40)
    }

    @Test func `texts saved through another store object of the same file are compared too`() throws {
        // First              | Second
        // insert "é", save   |
        //                    | insert "é" in another form: refused
        //                    | the same with a merge policy: an update of the first object
        let folder = TemporaryFolder()
        let first = try Library(folder.file("library.store"))
        let second = try Library(folder.file("library.store"))
        first.insert("Author", ["name": .text("\u{e9}")])
        try first.context.save()
        second.insert("Author", ["name": .text("e\u{301}")])
        #expect(throws: ObjectGraphError.self) { try second.context.save() }
        second.context.mergePolicy = .mergeByPropertyObjectTrump
        try second.context.save()
        #expect(try first.context.count(FetchRequest(first.entity("Author"))) == 1)
    }
}
