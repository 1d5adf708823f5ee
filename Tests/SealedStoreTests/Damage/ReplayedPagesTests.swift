@testable import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Earlier versions of pages in place of the present ones, which verify like these: each request ends with rows in the
/// order of their keys, or with the error for damage.
@Suite struct ReplayedPagesTests {
    private static let rowCount = 1250
    /// Two rows fill a page: the tree has more leaves than one page can refer to.
    private static let label = String(repeating: "0123456789", count: 190)

    private let folder = TemporaryFolder()
    private let file: URL
    private var versions = FileVersions()

    init() throws {
        file = folder.file("library")
        // Objects are deleted and inserted at other places, so that pages change their places in the trees.
        try addVersion { library in
            try Self.insert(Self.rowCount, library)
        }
        try addVersion { library in
            try Self.delete(library) { $0 % 7 < 4 && $0 < 1000 }
            try Self.insert(350, library)
        }
        try addVersion { library in
            try Self.delete(library) { $0 > 750 && $0 % 3 == 0 }
            try Self.insert(Self.rowCount / 2, library)
        }
        try addVersion { library in
            try Self.delete(library) { $0 < 350 || (1000..<1600).contains($0) }
            try Self.insert(200, library)
        }
    }

    /// Changes the store, and keeps the content of its file.
    private mutating func addVersion(_ change: (Library) throws -> Void) throws {
        let library = try Library(file, history: HistoryOptions(identifiesObjects: true))
        try change(library)
        try library.coordinator.removeAllStores()
        try versions.add(file)
    }

    private static func insert(_ count: Int, _ library: Library) throws {
        for number in 0..<count {
            let tag = library.insert("Tag", ["label": .text(label + String(number))])
            guard number % 5 == 0 else { continue }
            let book = library.insert(
                "Book",
                ["title": .text("book \(number)"), "pages": .integer(Int64(number % 10))]
            )
            book.setMembers([tag], forRelationship: "tags")
        }
        try library.context.save()
        library.context.reset()
    }

    private static func delete(_ library: Library, _ isDeleted: (Int64) -> Bool) throws {
        for entity in ["Tag", "Book"] {
            let keys = try library.keys(entity, nil).filter(isDeleted)
            let predicate = QueryExpression.isMember(.variable(0), of: keys.map(Value.integer))
            _ = try library.context.execute(BatchDeleteRequest(library.entity(entity), predicate: predicate))
        }
    }

    /// Whether a page of a version is one of a tree that has children (SQLite file format, section 1.6).
    private func isInterior(_ page: Int, of version: Int) throws -> Bool {
        let salt = Array(versions.page(1, of: version).prefix(16))
        let key = try DerivedKey(Library.key, fileSalt: salt, counters: StatisticsCounters())
        var bytes = [UInt8](repeating: 0, count: 32)
        let isDecrypted = versions.page(page, of: version).withUnsafeBytes {
            PageCipher.decrypt(0..<16, of: $0, key, into: &bytes)
        }
        return isDecrypted && (bytes[0] == 2 || bytes[0] == 5)
    }

    /// More rows than the pages of the file can hold.
    private static let largestCount = 20_000

    /// Calls `body`, which ends with a right result or with the error for damage.
    ///
    /// - Returns: Whether it was damage.
    private func isDamage(_ comment: Comment, _ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return false
        } catch let error as DatabaseError {
            switch error {
            case .damaged, .damagedIndex: break
            default: Issue.record("\(comment): \(error)")
            }
        } catch let error as SealedStoreError {
            guard case .damagedRow = error else {
                Issue.record("\(comment): \(error)")
                return true
            }
        } catch let error as ObjectGraphError {
            // Relationships that could not be read.
            guard case .unreadable = error else {
                Issue.record("\(comment): \(error)")
                return true
            }
        }
        return true
    }

    private enum Question: String, CaseIterable {
        case fetch, range, keys, sorted, batches, members, count, history, changeSet, check, salvage, deletion, erasure
        case migration
    }

    private func ask(_ question: Question, _ comment: Comment) throws {
        let library = try Library(file, history: HistoryOptions(identifiesObjects: true))
        defer { try? library.coordinator.removeAllStores() }
        let request = FetchRequest(library.entity("Tag"))
        func expectAscending(_ keys: [Int64], after first: Int64 = 0) {
            #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 } && keys.first ?? .max > first, comment)
            #expect(keys.count <= Self.largestCount, comment)
        }
        switch question {
        case .fetch:
            do {
                expectAscending(
                    try library.context.fetch(request, as: ManagedObject.self).map { $0.managedObjectID.key }
                )
            } catch DatabaseError.damaged {
                library.insert("Tag", ["label": .text("late")])
                #expect(throws: DatabaseError.damaged(path: file.path), "nothing is written after damage was found") {
                    try library.context.save()
                }
                throw DatabaseError.damaged(path: file.path)
            }
        case .range:
            for first in stride(from: Int64(0), to: 2500, by: 125) {
                var request = request
                request.predicate = .comparison(.greater, .variable(0), .literal(.integer(first)))
                request.limit = 100
                let objects = try library.context.fetch(request, as: ManagedObject.self)
                expectAscending(objects.map { $0.managedObjectID.key }, after: first)
            }
        case .keys: expectAscending(try library.keys("Tag", nil))
        case .sorted:
            var request = request
            request.sort = [QuerySort(library.path("Tag", "label"))]
            let keys = try library.context.fetch(request, as: ManagedObject.self).map { $0.managedObjectID.key }
            #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 != $1 }, comment)
        case .batches:
            var count = 0
            try library.context.enumerate(request, batchSize: 100) { (tags: [ManagedObject]) in count += tags.count }
            #expect(count <= Self.largestCount, comment)
        case .members:
            let books = try library.context.fetch(FetchRequest(library.entity("Book")), as: ManagedObject.self)
            for book in books { #expect(book.members(forRelationship: "tags").count <= 1, comment) }
            try library.context.reportReadFailures()
        case .count: #expect(try library.context.count(request) <= Self.largestCount, comment)
        case .history:
            let numbers = try library.coordinator.history(HistoryFetchRequest()).map(\.number)
            expectAscending(numbers)
        case .changeSet:
            let changes = try library.coordinator.changeSet()
            #expect(changes?.changes.count ?? 0 <= 2 * Self.largestCount, comment)
        case .check: _ = try library.check()
        case .deletion: _ = try library.context.execute(BatchDeleteRequest(library.entity("Tag")))
        case .erasure: try library.coordinator.eraseStores()
        case .migration:
            try library.coordinator.removeAllStores()
            try migrate()
        case .salvage:
            try library.coordinator.removeAllStores()
            let salvaged = folder.file("salvaged")
            defer { try? FileManager.default.removeItem(at: salvaged) }
            let report = try SealedStore.salvage(file, key: Library.key, to: salvaged)
            #expect(report.entities.reduce(0) { $0 + $1.recoveredCount } <= Self.largestCount, comment)
            #expect(try SealedStore.check(salvaged, key: Library.key).isSound, comment)
        }
    }

    /// Migrates the store to a model in which an attribute has another type. With a progress, the rows are copied in
    /// parts.
    private func migrate() throws {
        let other = try Library.model(labelType: .data)
        let coordinator = PersistentStoreCoordinator(model: other)
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: file,
                options: [
                    SealedStore.keyOption: Library.key,
                    SealedStore.migrationProgressOption: Progress(totalUnitCount: 1),
                ]
            )
        )
        defer { try? coordinator.removeAllStores() }
        let tags = FetchRequest(try #require(other.entitiesByName["Tag"]))
        let count = try ManagedObjectContext(coordinator: coordinator).count(tags)
        #expect(count <= Self.largestCount)
    }

    /// Puts pages back, and returns how many requests have found that.
    private func count(_ question: Question, pages: [Int], of version: Int) throws -> Int {
        var found = 0
        for page in pages {
            try versions.write(to: file, withPages: [page], of: version)
            let comment: Comment = "\(question.rawValue), page \(page) of version \(version)"
            if try isDamage(comment, { try ask(question, comment) }) { found += 1 }
        }
        return found
    }

    @Test(arguments: SeededGenerator.seeds(1)) func `no request returns rows twice or without end`(seed: UInt64) throws
    {
        var random = SeededGenerator(seed: seed)
        var found: [Question: Int] = [:]
        for question in Question.allCases {
            for version in 0..<versions.count - 1 {
                let outdated = versions.outdatedPages(of: version)
                let leaves = outdated.shuffled(using: &random).prefix(2)
                let interior = try outdated.filter { try isInterior($0, of: version) }.shuffled(using: &random).prefix(
                    4
                )
                found[question, default: 0] += try count(question, pages: Array(leaves) + interior, of: version)
            }
        }
        #expect(found[.fetch, default: 0] > 0 && found[.range, default: 0] > 0, "\(random) \(found)")
        print(random, found.map { "\($0.key.rawValue) \($0.value)" }.sorted())
    }
}
