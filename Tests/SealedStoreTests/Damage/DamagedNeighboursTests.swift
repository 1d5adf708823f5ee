import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// A page of the file is damaged. Objects are read together, but only those whose rows lie on the page are failures.
@Suite struct DamagedNeighboursTests {
    private static let count = 60
    /// Some six rows fit on a page.
    private static let filling = String(repeating: "x", count: 600)

    private let folder = TemporaryFolder()
    private var file: URL { folder.file("library.store") }

    enum Reading: CaseIterable {
        case destinations, members, sharedMembers, prefetchedDestinations, prefetchedMembers, batches
    }

    private static func text(_ number: Int) -> Value { .text("\(number + 100) \(filling)") }

    private func fill() throws {
        let library = try Library(file)
        for number in 0..<Self.count {
            let author = library.insert("Author", ["name": Self.text(number)])
            let book = library.insert("Book", ["title": Self.text(number), "pages": .integer(Int64(number))])
            book.setDestination(author, forRelationship: "author")
            book.addMember(library.insert("Tag", ["label": Self.text(number)]), forRelationship: "tags")
        }
        try library.context.save()
        try library.coordinator.removeAllStores()
    }

    /// The numbers in the values that are read from objects; nil for an empty value.
    private func numbers(
        _ reading: Reading,
        _ context: ManagedObjectContext,
        only keys: [Int64]? = nil
    ) throws -> [Int?] {
        try values(reading, context, only: keys).map { value in
            guard case .text(let text) = value else { return nil }
            return text.split(separator: " ").first.flatMap { Int($0) }.map { $0 - 100 }
        }
    }

    private func values(_ reading: Reading, _ context: ManagedObjectContext, only keys: [Int64]? = nil) throws
        -> [Value]
    {
        let model = context.model
        func fetch(_ entity: String, _ prefetched: String? = nil) throws -> [ManagedObject] {
            var request = FetchRequest(model.entitiesByName[entity]!)
            if let keys {
                let uuid = try context.coordinator.store(for: request.entity).store.metadata.uuid
                return keys.compactMap { key in
                    let id = ManagedObjectID(entity: request.entity, storeUUID: uuid, key: key)
                    return context.object(with: id) as? ManagedObject
                }
            }
            if let prefetched {
                request.relationshipKeyPathsForPrefetching = [[request.entity.relationship(named: prefetched)!]]
            }
            guard reading == .batches else { return try context.fetch(request) }
            // By the index of the titles, without the pages of the rows.
            request.sort = [QuerySort(.path(request.entity.propertiesByName["title"]!))]
            return Array(try context.fetch(request, batchSize: 20, as: ManagedObject.self))
        }
        func first(_ object: ManagedObject, _ relationship: String, _ name: String) -> Value {
            (object.members(forRelationship: relationship).first as? ManagedObject)?[name] ?? .null
        }
        switch reading {
        case .destinations, .prefetchedDestinations:
            return try fetch("Book", reading == .destinations ? nil : "author").map {
                ($0.destination(forRelationship: "author") as? ManagedObject)?["name"] ?? .null
            }
        case .members, .prefetchedMembers:
            return try fetch("Author", reading == .members ? nil : "books").map { first($0, "books", "title") }
        case .sharedMembers: return try fetch("Book").map { first($0, "tags", "label") }
        case .batches: return try fetch("Book").map { $0["title"] }
        }
    }

    @Test(arguments: Reading.allCases)
    func `objects that are read together fail only if they cannot be read alone`(reading: Reading) throws {
        try fill()
        let content = try Data(contentsOf: file)
        let right = Array(0..<Self.count)
        var partialFailures = 0
        for page in 2...content.count / 4096 {
            var bytes = content
            bytes[(page - 1) * 4096 + 300] ^= 1
            try bytes.write(to: file)
            defer {
                for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
            }
            guard let library = try? Library(file) else { continue }
            defer { try? library.coordinator.removeAllStores() }
            let context = ManagedObjectContext(coordinator: library.coordinator)
            // The fetch itself may need the page.
            guard let together = try? numbers(reading, context), together.count == Self.count else { continue }
            let alone = try (1...Int64(Self.count)).map { key in
                try #require(
                    try numbers(reading, ManagedObjectContext(coordinator: library.coordinator), only: [key]).first
                )
            }
            #expect(together == alone, "page \(page)")
            let failures = zip(together, right).count { $0 != $1 }
            #expect(zip(together, right).allSatisfy { $0 == $1 || $0 == nil }, "page \(page)")
            if failures > 0 {
                #expect(context.unreadableValues.count >= failures, "page \(page)")
                #expect(throws: ObjectGraphError.self) { try context.save() }
            }
            if failures > 0, failures <= 8 { partialFailures += 1 }
            context.forgetReadFailures()
        }
        #expect(partialFailures >= 3)
    }

    // Each of the rows that cannot be read is asked for once by a divided request, and once by its own access.
    @Test func `a page that fails costs few statements`() throws {
        try fill()
        let content = try Data(contentsOf: file)
        for page in 2...content.count / 4096 {
            var bytes = content
            bytes[(page - 1) * 4096 + 300] ^= 1
            try bytes.write(to: file)
            defer {
                for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
            }
            guard let library = try? Library(file) else { continue }
            defer { try? library.coordinator.removeAllStores() }
            let before = try library.statistics().statementsRun
            guard let values = try? values(.destinations, library.context) else { continue }
            let failures = values.count { $0 == .null }
            let statements = try library.statistics().statementsRun - before
            #expect(statements <= 3 + 8 * failures + 10, "page \(page): \(failures) failures, \(statements) statements")
        }
    }
}
