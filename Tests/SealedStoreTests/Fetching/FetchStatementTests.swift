import EncryptedSQLite
import Foundation
import TestSupport
import Testing

@testable import ObjectGraph
@testable import SealedStore

/// Requests of one shape share one statement.
@Suite struct FetchStatementTests {
    private let folder = TemporaryFolder()
    private let library: Library
    private let opened: OpenStore

    init() throws {
        // Stores of equal models share their statements, and the tests run concurrently.
        let own = EntityDescription("Only\(UUID().hashValue.magnitude)", attributes: [AttributeDescription("a", .bool)])
        let model = try ManagedObjectModel(entities: Library.model().entities.map(\.description) + [own])
        library = try Library(folder.file("library"), model: model)
        let store = try #require(try library.coordinator.store(for: library.entity("Book")).store as? SealedStore)
        opened = store.opened
    }

    private var statementCount: Int {
        get throws { try opened.database.read { try opened.states.state(on: $0).fetchStatements.count } }
    }

    private func path(_ name: String) -> QueryExpression {
        .path(library.entity("Book").propertiesByName[name]!)
    }

    private func statement(_ condition: QueryExpression, limit: Int? = nil) throws -> FetchStatement {
        var request = FetchRequest(library.entity("Book"), predicate: condition)
        request.limit = limit
        return try opened.database.read { connection in
            try FetchStatement(request, columns: "*", opened, in: opened.states.state(on: connection))
        }
    }

    @Test func `different constants are different parameters of the same statement`() throws {
        let first = try statement(.comparison(.equal, path("title"), .literal(.text("a"))), limit: 1)
        let second = try statement(.comparison(.equal, path("title"), .literal(.text("e\u{301}"))), limit: 2)
        #expect(first.sql == second.sql)
        #expect(first.parameters == [.text("a"), .integer(1), .integer(0)])
        #expect(second.parameters.count == 3)
        guard case .text(let text) = second.parameters[0] else { return #expect(Bool(false), "no text") }
        #expect(Array(text.unicodeScalars) == ["\u{e9}"])
        #expect(try statementCount == 1)
    }

    @Test func `the parameters have the order of the text`() throws {
        func condition(_ pages: Int64, _ title: String, _ words: [Value]) -> QueryExpression {
            .or([
                .and([
                    .comparison(.greater, path("pages"), .literal(.integer(pages))),
                    .not(.comparison(.equal, path("title"), .literal(.text(title)))),
                ]),
                .isMember(path("title"), of: words),
                .comparison(.less, .literal(.integer(pages + 1)), path("pages")),
            ])
        }
        let first = try statement(condition(1, "a", [.text("x")]))
        let second = try statement(condition(7, "b", [.text("x")]))
        #expect(first.sql == second.sql)
        #expect(first.parameters == [.integer(1), .text("a"), .text("x"), .integer(2)])
        #expect(second.parameters == [.integer(7), .text("b"), .text("x"), .integer(8)])
        #expect(try statementCount == 1)
    }

    @Test func `long lists are not kept`() throws {
        let short = try statement(.isMember(path("pages"), of: (0..<16).map { .integer($0) }))
        let long = try statement(.not(.isMember(path("pages"), of: (0..<5000).map { .integer($0) })))
        #expect(short.parameters.count == 16)
        #expect(long.parameters.count == 1)
        #expect(try statementCount == 1)
    }

    @Test func `requests with different statements have different shapes`() throws {
        let title = path("title")
        _ = try statement(.comparison(.equal, title, .literal(.text("a"))))
        _ = try statement(.comparison(.equal, title, .literal(.null)))
        _ = try statement(.comparison(.notEqual, title, .literal(.text("a"))))
        _ = try statement(.comparison(.equal, title, .literal(.integer(1))))
        _ = try statement(.isMember(title, of: [.text("a"), .text("b")]))
        _ = try statement(.isMember(title, of: [.text("a")]))
        _ = try statement(.comparison(.equal, title, .literal(.text("a"))), limit: 3)
        #expect(try statementCount == 7)
    }

    @Test func `two constants are compared as Swift compares them`() throws {
        let statement = try statement(
            .comparison(.greaterOrEqual, .literal(.text("z")), .literal(.text("\u{212A}")))
        )
        guard case .text(let kelvin) = statement.parameters[1] else { return #expect(Bool(false), "no text") }
        #expect(Array(kelvin.utf8) == Array("K".utf8))
    }

    @Test func `functions receive the bytes of their own request`() throws {
        func condition(_ part: String) -> QueryExpression {
            .function(.localizedContains, [path("title"), .literal(.text(part))])
        }
        _ = try statement(condition("\u{304C}"))
        guard case .text(let text) = try statement(condition("\u{304B}\u{3099}")).parameters[0] else {
            return #expect(Bool(false), "no text")
        }
        #expect(Array(text.unicodeScalars) == ["\u{304B}", "\u{3099}"])
    }

    @Test func `a constant that fails is an error only if it is evaluated`() throws {
        let never = QueryExpression.arithmetic(.divide, .literal(.integer(1)), .literal(.integer(0)))
        let condition = QueryExpression.and([
            .comparison(.greater, path("pages"), .literal(.integer(5))),
            .comparison(.equal, never, .literal(.integer(1))),
        ])
        library.insert("Book", ["title": .text("a"), "pages": .integer(1)])
        try library.context.save()
        let context = ManagedObjectContext(coordinator: library.coordinator)
        let request = FetchRequest(library.entity("Book"), predicate: condition)
        #expect(try context.fetch(request, as: ManagedObject.self).isEmpty)
    }
}
