import EncryptedSQLite
import Foundation
import TestSupport
import Testing

@testable import ObjectGraph
@testable import SealedStore

/// Texts that are equal in Swift in every normalization form, and the record of columns with other forms.
@Suite struct TextFormTests {
    private let folder = TemporaryFolder()
    private let file: URL

    init() throws {
        file = folder.file("library")
    }

    private func titles(_ library: Library, _ condition: QueryExpression) throws -> [String] {
        let context = ManagedObjectContext(coordinator: library.coordinator)
        var request = FetchRequest(library.entity("Book"), predicate: condition)
        request.sort = [QuerySort(title(library))]
        return try context.fetch(request, as: ManagedObject.self).map { book in
            if case .text(let text) = book["title"] { text } else { "" }
        }
    }

    private func title(_ library: Library) -> QueryExpression {
        .path(library.entity("Book").propertiesByName["title"]!)
    }

    private func sql(_ library: Library, _ condition: QueryExpression) throws -> String {
        let attached = try library.coordinator.store(for: library.entity("Book"))
        let store = try #require(attached.store as? SealedStore)
        let opened = store.opened
        return try opened.database.read { connection in
            let schema = try opened.states.state(on: connection).schema
            var generator = QueryGenerator(schema, root: library.entity("Book"))
            return try generator.condition(condition, mayBeNull: true)
        }
    }

    @Test func `a constant finds texts in the composed form, by an index`() throws {
        let library = try Library(file)
        library.insert("Book", ["title": .text("caf\u{e9}")])
        try library.context.save()
        let condition = QueryExpression.comparison(.equal, title(library), .literal(.text("cafe\u{301}")))
        #expect(try sql(library, condition) == #"(t0."title" = ?)"#)
        #expect(try titles(library, condition) == ["caf\u{e9}"])
    }

    @Test func `texts in several forms are compared in Swift's order from the first one on, and after reopening`()
        throws
    {
        var library = try Library(file)
        for title in ["caf\u{e9}", "cafe\u{301}s", "b"] { library.insert("Book", ["title": .text(title)]) }
        try library.context.save()
        for _ in 0..<2 {
            let title = title(library)
            let isEqual = QueryExpression.comparison(.equal, title, .literal(.text("caf\u{e9}s")))
            #expect(try sql(library, isEqual) == #"((t0."title" COLLATE query_lexical) = ?)"#)
            #expect(try titles(library, isEqual) == ["cafe\u{301}s"])
            #expect(
                try titles(library, .isMember(title, of: [.text("b"), .text("cafe\u{301}")])) == ["b", "caf\u{e9}"]
            )
            #expect(try titles(library, .bool(true)) == ["b", "caf\u{e9}", "cafe\u{301}s"])
            #expect(
                try titles(library, .comparison(.less, title, .literal(.text("caf\u{e9}s")))) == ["b", "caf\u{e9}"]
            )
            library = try Library(file)
        }
    }

    @Test func `an update and a batch change the form of a column, too`() throws {
        let library = try Library(file)
        library.insert("Book", ["title": .text("x")])
        try library.context.save()
        let title = title(library)
        let condition = QueryExpression.comparison(.equal, title, .literal(.text("\u{e9}")))
        #expect(try !sql(library, condition).contains("COLLATE"))
        var request = BatchUpdateRequest(library.entity("Book"))
        request.propertiesToUpdate = ["title": .literal(.text("e\u{301}"))]
        _ = try library.context.execute(request)
        #expect(try sql(library, condition).contains("COLLATE"))
        #expect(try titles(library, condition) == ["e\u{301}"])
    }

    @Test func `a prefix is looked up in an index`() throws {
        let library = try Library(file)
        for title in ["a", "ab", "abc", "b", "A"] { library.insert("Book", ["title": .text(title)]) }
        try library.context.save()
        let condition = QueryExpression.function(.startsWith, [title(library), .literal(.text("ab"))])
        #expect(
            try sql(library, condition)
                == #"(t0."title" >= ? AND t0."title" < ? AND query_startsWith(t0."title", ?))"#
        )
        #expect(try titles(library, condition) == ["ab", "abc"])
    }
}
