import EncryptedSQLite
import Foundation
import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Predicates, their SQL, and its parameters.
@Suite struct QuerySQLTests {
    private let model = try! Library.model()

    private func property(_ entity: String, _ name: String) -> Property {
        model.entitiesByName[entity]!.propertiesByName[name]!
    }

    private func sql(_ condition: QueryExpression) throws -> (text: String, from: String, parameters: [Value]) {
        var generator = QueryGenerator(StoreSchema(model: model), root: model.entitiesByName["Book"]!)
        let text = try generator.condition(condition, mayBeNull: true)
        return (text, generator.fromClause, generator.values)
    }

    @Test func `a constant is a parameter`() throws {
        let injection = "x'; DROP TABLE Book; --"
        let result = try sql(.comparison(.equal, .path(property("Book", "title")), .literal(.text(injection))))
        #expect(result.text == #"(t0."title" = ?)"#)
        #expect(result.parameters == [.text(injection)])
    }

    @Test func `equality with a value that may be null is IS`() throws {
        let pages = QueryExpression.path(property("Book", "pages"))
        #expect(try sql(.comparison(.equal, pages, .literal(.null))).text == #"(t0."pages" IS NULL)"#)
        #expect(try sql(.comparison(.notEqual, pages, .literal(.integer(1)))).text == #"(t0."pages" IS NOT ?)"#)
        #expect(try sql(.not(.comparison(.equal, pages, .literal(.integer(1))))).text == #"(NOT (t0."pages" IS ?))"#)
    }

    @Test func `a comparison under NOT is never NULL`() throws {
        let pages = QueryExpression.path(property("Book", "pages"))
        #expect(
            try sql(.not(.comparison(.less, pages, .literal(.integer(1))))).text == #"(NOT ((t0."pages" < ?) IS TRUE))"#
        )
    }

    @Test func `a path through a relationship joins once`() throws {
        let name = QueryExpression.path(property("Book", "author"), property("Author", "name"))
        let result = try sql(
            .and([
                .comparison(.equal, name, .literal(.text("A"))), .comparison(.notEqual, name, .literal(.text("B"))),
            ])
        )
        #expect(result.text == #"((t1."name" = ?) AND (t1."name" IS NOT ?))"#)
        #expect(result.from == #"FROM "Book" AS t0 LEFT JOIN "Author" AS t1 ON t1."_id" = t0."author""#)
    }

    @Test func `a quantifier is a subquery`() throws {
        let condition = QueryExpression.comparison(
            .equal,
            .path(from: 1, [property("Tag", "label")]),
            .literal(.text("x"))
        )
        let any = try sql(
            .quantified(.any, .members(from: 0, [property("Book", "tags")]), variable: 1, condition: condition)
        )
        #expect(
            any.text == #"(EXISTS (SELECT 1 FROM "_Book_tags" AS t2 JOIN "Tag" AS t1 ON t1."_id" = t2."target" "#
                + #"WHERE t2."source" = t0."_id" AND (t1."label" = ?)))"#
        )
    }

    @Test func `a long list is one parameter`() throws {
        let pages = QueryExpression.path(property("Book", "pages"))
        let result = try sql(.isMember(pages, of: (0..<5_000).map { .integer($0) }))
        #expect(result.text == #"(t0."pages" IN (SELECT value FROM json_each(?)))"#)
        #expect(result.parameters.count == 1)
    }

    @Test func `a fetch by unique value uses the index`() throws {
        let folder = TemporaryFolder()
        let library = try Library(folder.file("library.store"))
        var request = FetchRequest(library.entity("Author"))
        request.predicate = .comparison(
            .equal,
            .path(library.entity("Author").propertiesByName["name"]!),
            .literal(.text("A"))
        )
        let opened = try library.opened()
        let plan = try opened.database.read { connection in
            let state = try opened.states.state(on: connection)
            let statement = try FetchStatement(request, columns: "1", opened, in: state)
            return try connection.withStatement("EXPLAIN QUERY PLAN " + statement.sql.text) { query in
                try query.bind(statement.parameters)
                return try query.step() ? query.string(at: 3) : ""
            }
        }
        #expect(plan.contains("USING") && plan.contains("INDEX"), "\(plan)")
    }
}
