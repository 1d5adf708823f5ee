import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Programs with different indexes in their models that share a file.
@Suite struct SharedIndexTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private static let words = FetchIndexDescription(["title"], kind: .fullText(FullTextOptions()))
    private static let trigrams = FetchIndexDescription(
        ["body"],
        kind: .fullText(FullTextOptions(tokenizer: .trigram))
    )
    private static let tree = FetchIndexDescription(["year"], kind: .rtree)
    private static let binary = FetchIndexDescription(["year"])

    private static let first = [words, tree]
    private static let second = [trigrams, binary]

    private func open(_ indexes: [FetchIndexDescription]) throws -> Library {
        try Library(url, model: Archive.model(indexes))
    }

    private func insert(_ library: Library, _ title: String, _ year: Int64) throws {
        library.insert("Article", ["title": .text(title), "body": .text(title), "year": .integer(year)])
        try library.context.save()
    }

    private func range(_ library: Library) -> QueryExpression {
        let year = library.path("Article", "year")
        return .and([
            .comparison(.greaterOrEqual, year, .literal(.integer(1))), .comparison(.less, year, .literal(.integer(9))),
        ])
    }

    private func years(_ library: Library) throws -> Int { try library.keys("Article", range(library)).count }

    private func found(_ library: Library, _ word: String) throws -> Int {
        var request = FetchRequest(library.entity("Article"))
        request.search = FullTextSearch(.words(word), in: ["title"])
        return try library.context.count(request)
    }

    private func containing(_ library: Library, _ part: String) throws -> Int {
        let body = library.path("Article", "body")
        return try library.keys("Article", .function(.contains, [body, .literal(.text(part))])).count
    }

    /// | first program      | second program     |
    /// |--------------------|--------------------|
    /// | opens              |                    |
    /// | saves, queries     | opens              |
    /// | queries            | saves, queries     |
    /// | saves, queries     | queries            |
    @Test(arguments: [false, true])
    func `two containers with different declarations query and save`(isSwapped: Bool) throws {
        let one = try open(isSwapped ? Self.second : Self.first)
        try insert(one, "green tea", 1)
        #expect(try years(one) == 1)
        let two = try open(isSwapped ? Self.first : Self.second)
        #expect(try years(one) == 1)
        try insert(two, "black tea", 2)
        // A search needs a declared index; predicates do not.
        let searching = isSwapped ? two : one
        #expect(try found(searching, "tea") == 2)
        for library in [one, two] {
            #expect(try years(library) == 2)
            #expect(try containing(library, "ack t") == 1)
        }
        try insert(one, "white tea", 3)
        for library in [two, one] {
            #expect(try years(library) == 3)
            #expect(try library.check() == [])
        }
        #expect(try found(searching, "white") == 1)
    }

    @Test func `alternate openings change the file once for each program`() throws {
        func schema(_ indexes: [FetchIndexDescription]) throws -> [String] {
            let library = try open(indexes)
            defer { try? library.coordinator.removeAllStores() }
            return try library.definitions() + [String(library.opened().database.read { try $0.schemaVersion() })]
        }
        _ = try schema(Self.first)
        let both = try schema(Self.second)
        for indexes in [Self.first, Self.second, [], Self.first] { #expect(try schema(indexes) == both) }
    }

    /// | first program              | second program             |
    /// |----------------------------|----------------------------|
    /// | opens, is pinned to a state |                           |
    /// |                            | removes the first's indexes |
    /// | queries without indexes    |                            |
    /// | in the pinned state: with  |                            |
    @Test func `queries still work after another program removes their indexes`() throws {
        let one = try open([Self.words, Self.tree, Self.trigrams])
        try insert(one, "green tea", 1)
        let pinned = ManagedObjectContext(coordinator: one.coordinator)
        try pinned.setQueryGeneration(from: .current)
        #expect(try one.plan("Article", range(one)).indexes == ["_rtree_Article_year"])
        let two = try open([Self.binary])
        try (two.store() as? SealedStore)?.removeUndeclaredIndexes()
        try insert(two, "black tea", 2)
        #expect(try years(one) == 2)
        #expect(try containing(one, "tea") == 2)
        #expect(try !one.plan("Article", range(one)).indexes.contains("_rtree_Article_year"))
        #expect(throws: FullTextError.noIndex(entity: "Article", properties: ["title"])) { try found(one, "tea") }
        var request = FetchRequest(one.entity("Article"), predicate: range(one))
        #expect(try pinned.count(request) == 1)
        request.search = FullTextSearch(.words("tea"), in: ["title"])
        #expect(try pinned.count(request) == 1)
        try insert(one, "white tea", 3)
        #expect(try years(one) == 3)
        #expect(try one.check() == [])
        // A program that opens the file again adds its indexes, and the others use them.
        let three = try open([Self.words, Self.tree, Self.trigrams])
        #expect(try found(three, "tea") == 3)
        #expect(try found(one, "tea") == 3)
        #expect(try one.check() == [])
    }
}
