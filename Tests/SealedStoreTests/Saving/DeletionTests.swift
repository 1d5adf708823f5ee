import EncryptedSQLite
import Foundation
import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// The statements that delete rows with consecutive and with scattered keys.
@Suite struct DeletionTests {
    private let folder = TemporaryFolder()
    private let library: Library

    init() throws {
        library = try Library(folder.file("library.store"))
    }

    /// Objects with keys from 1 on.
    private func insertAuthors(_ count: Int) throws -> [ManagedObject] {
        let authors = (0..<count).map { library.insert("Author", ["name": .text("\($0)")]) }
        try library.context.save()
        return authors
    }

    private func remainingNames() throws -> [Value?] {
        let context = ManagedObjectContext(coordinator: library.context.coordinator)
        return try context.fetch(FetchRequest(library.entity("Author")), as: ManagedObject.self).map { $0["name"] }
    }

    /// Expects a save to fail, and returns the objects in conflict.
    private func conflictsOfSave() throws -> [ManagedObjectID] {
        let error = try #require(throws: ObjectGraphError.self) { try library.context.save() }
        guard case .conflicts(let conflicts) = error else { throw error }
        return conflicts.map(\.objectID)
    }

    @Test func `consecutive keys are one group in any order`() throws {
        let author = library.entity("Author")
        let keys: [Int64] = [5, 3, 1, 7, 6, 8, 4, 2, 20, 30, 101, 100]
        let deletions = keys.map {
            SaveChangesRequest.Deletion(entity: author, key: $0, row: nil)
        }
        let groups = DeletedKeys.groups(of: deletions)
        let expected: [[Int64]] = [Array(1...8), [20, 30, 100, 101]]
        #expect(groups.map { Array($0.keys) } == expected)
        let forms: [KeyGroup.Form] = [.range, .list(64)]
        #expect(groups.map(\.form) == forms)
    }

    @Test func `scattered keys are lists of few lengths`() throws {
        let author = library.entity("Author")
        let groups = DeletedKeys.groups(
            of: (0..<130).map { SaveChangesRequest.Deletion(entity: author, key: 2 * $0 + 1, row: nil) }
        )
        #expect(groups.map(\.keys.count) == [64, 64, 2])
        #expect(groups.map(\.form) == [.list(64), .list(64), .list(64)])
        let keys = (0..<130).map { Int64(2 * $0 + 1) }
        #expect(groups.flatMap(\.keys) == keys)
    }

    @Test func `keys of different entities are not consecutive, nor is the largest key`() throws {
        let (author, book) = (library.entity("Author"), library.entity("Book"))
        let keys: [Int64] = [.max, .max - 1, 1, 2]
        let groups = DeletedKeys.groups(
            of: [author, book].flatMap { entity in
                keys.map { SaveChangesRequest.Deletion(entity: entity, key: $0, row: nil) }
            }
        )
        #expect(groups.map { Array($0.keys) } == [[1, 2, .max - 1, .max], [1, 2, .max - 1, .max]])
        #expect(groups.allSatisfy { $0.form == .list(64) })
    }

    @Test func `only the rows of deleted objects and references to them are deleted`() throws {
        let authors = try insertAuthors(300)
        let books = authors.enumerated().map { number, author in
            let book = library.insert("Book", ["title": .text("\(number)")])
            book.setDestination(author, forRelationship: "author")
            return book
        }
        try library.context.save()
        // A run, a hole in it, every third beyond, and a few at the end.
        let doomed = Set((10..<90).filter { $0 != 50 } + stride(from: 100, to: 290, by: 3) + [297, 299])
        for number in doomed.shuffled() { library.context.delete(authors[number]) }
        try library.context.save()

        let remaining = (0..<300).filter { !doomed.contains($0) }.map { Value.text("\($0)") }
        #expect(try remainingNames() == remaining)
        let context = ManagedObjectContext(coordinator: library.context.coordinator)
        for (number, book) in books.enumerated() {
            let fetched = try #require(context.object(with: book.managedObjectID) as? ManagedObject)
            #expect((fetched.destination(forRelationship: "author") == nil) == doomed.contains(number))
        }
    }

    @Test func `of consecutive rows, only the row changed by another context is in conflict`() throws {
        let authors = try insertAuthors(40)
        let other = ManagedObjectContext(coordinator: library.context.coordinator)
        let changed = try #require(other.object(with: authors[17].managedObjectID) as? ManagedObject)
        changed["name"] = .text("changed")
        let gone = other.object(with: authors[23].managedObjectID)
        other.delete(gone)
        for author in authors { library.context.delete(author) }
        try other.save()
        #expect(try conflictsOfSave() == [authors[17].managedObjectID])
        #expect(try remainingNames().count == 39)
    }

    @Test func `a run of any length is one statement`() throws {
        let counts = try [100, 1_000].map { count in
            let authors = try insertAuthors(count)
            for author in authors { library.context.delete(author) }
            // Their members are read here.
            library.context.processPendingChanges()
            let before = try library.statistics()
            try library.context.save()
            return (try library.statistics() - before).statementsRun
        }
        #expect(counts[0] == counts[1])
        #expect(counts[0] < 10, "\(counts[0]) statements")
    }

    // MARK: Whole tables

    @Test func `all rows of a table and references to them are deleted, and keys are not reused`() throws {
        let authors = try insertAuthors(2_000)
        let book = library.insert("Book", ["title": .text("one")])
        book.setDestination(authors[1_234], forRelationship: "author")
        try library.context.save()
        for author in authors.shuffled() { library.context.delete(author) }
        let before = try library.statistics()
        try library.context.save()
        #expect((try library.statistics() - before).statementsRun < 12)

        #expect(try library.integers(#"SELECT count(*) FROM "Author""#) == [0])
        #expect(try library.integers(#"SELECT count(*) FROM "Book" WHERE "author" IS NULL"#) == [1])
        #expect(try library.check().isEmpty)
        let next = try insertAuthors(1)
        #expect(next[0].managedObjectID.key == 2_001)
    }

    @Test func `of all rows of a table, the row changed by another context stays`() throws {
        let authors = try insertAuthors(2_000)
        let other = ManagedObjectContext(coordinator: library.context.coordinator)
        let changed = try #require(other.object(with: authors[1_000].managedObjectID) as? ManagedObject)
        changed["name"] = .text("changed")
        for author in authors { library.context.delete(author) }
        // The delete rules are applied here, so that the save does not begin with merging the other context's changes.
        library.context.processPendingChanges()
        try other.save()
        #expect(try conflictsOfSave() == [authors[1_000].managedObjectID])
        #expect(try remainingNames().count == 2_000)
    }

    @Test(arguments: [0, 1_000, 2_999]) func `a row that is not deleted stays, at any position`(spared: Int) throws {
        let authors = try insertAuthors(3_000)
        for (number, author) in authors.enumerated() where number != spared { library.context.delete(author) }
        try library.context.save()
        #expect(try remainingNames() == [.text("\(spared)")])
    }

    @Test func `a row that another context inserted meanwhile stays`() throws {
        let authors = try insertAuthors(2_000)
        for author in authors { library.context.delete(author) }
        library.context.processPendingChanges()
        let other = ManagedObjectContext(coordinator: library.context.coordinator)
        let new = ManagedObject(entity: library.entity("Author"), insertInto: other)
        new["name"] = .text("new")
        try other.save()
        try library.context.save()
        #expect(try remainingNames() == [.text("new")])
    }

    @Test func `groups form one range if their keys are unique and close to each other`() throws {
        let author = library.entity("Author")
        func range(_ keys: [ClosedRange<Int64>]) -> ClosedRange<Int64>? {
            DeletedKeys.wholeRange(
                of: keys.map {
                    DeletedKeys(entity: author, version: nil, group: KeyGroup(keys: Array($0)[...], form: .range))
                }
            )
        }
        #expect(range([1...1_024]) == 1...1_024)
        #expect(range([1...1_023]) == nil)
        #expect(range([1_001...2_000, 1...1_000]) == 1...2_000)
        #expect(range([1...1_000, 1_000...2_000]) == nil)
        #expect(range([1...1_000, 2_000...3_000]) == 1...3_000)
        #expect(range([1...1_000, 5_000...6_000]) == nil)
        #expect(range([(Int64.min)...(Int64.min + 1_023), (Int64.max - 1_023)...(Int64.max)]) == nil)
        let single = DeletedKeys(entity: author, version: nil, group: KeyGroup(keys: [5_000], form: .list(1)))
        let many = DeletedKeys(entity: author, version: nil, group: KeyGroup(keys: Array(1...2_000)[...], form: .range))
        #expect(DeletedKeys.wholeRange(of: [many, single]) == nil)
    }
}
