import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Names and values in SQL whose quotation marks are parts of larger characters: SQLite reads bytes.
@Suite struct QuotingTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    /// Scalars that form one character with a quotation mark before or behind them.
    private static let scalars = ["\u{301}", "\u{fe0f}", "\u{200d}", "\u{20e3}", "\u{600}", "\u{1f3fd}", ""]

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(arguments: scalars)
    func `quoted names and literals have the bytes of the text`(scalar: String) throws {
        let database = try Database(.memory, key: nil)
        for mark in ["\"", "'"] {
            for text in [
                "\(mark)\(scalar)", "\(scalar)\(mark)", "a\(mark)\(scalar)b\(mark)\(mark)\(scalar)", "\(scalar)",
            ] {
                #expect(Self.bytes(SQL.unquoted(SQL.quoted(text))) == Self.bytes(text))
                #expect(
                    Self.bytes(SQL.nameOfObject(madeBy: "CREATE TABLE \(SQL.quoted(text)) (x)")) == Self.bytes(text)
                )
                let (value, name) = try database.read { connection in
                    let sql = "SELECT \(SQL.literal(text)) AS \(SQL.quoted(text)) FROM (SELECT 1)"
                    let value = try connection.withUncachedStatement(sql) { row in
                        try row.step() ? Array(row.text(at: 0)) : []
                    }
                    let list = "SELECT \(SQL.quoted(text)) FROM (SELECT 2 AS \(SQL.quoted(text)))"
                    let name = try connection.withUncachedStatement(list) { row in
                        try row.step() ? row.integer(at: 0) : 0
                    }
                    return (value, name)
                }
                #expect(value == Self.bytes(text))
                #expect(name == 2)
            }
        }
    }

    @Test(arguments: scalars)
    func `a default value is written as it is, also by a later migration`(scalar: String) throws {
        let store = try MigratingStore(url, [EntityDescription("Trip", attributes: [.init("name", .string)])])
        store.insert("Trip", ["name": .text("a")])
        try store.saveAndClose()
        let value = "'\(scalar) DEFAULT 7, \"x\" TEXT) --"
        let next = EntityDescription(
            "Trip",
            attributes: [.init("name", .string), .init("extra", .string, defaultValue: .text(value))]
        )
        let migrated = try MigratingStore(url, [next])
        let texts = try migrated.values("Trip", "extra")
        #expect(texts.map { Self.bytes($0.text) } == [Self.bytes("'\(value)'")])
        #expect(try migrated.problems() == [])
        try migrated.close()
        var last = next
        last.attributes.append(.init("days", .int64, defaultValue: .integer(1)))
        let again = try MigratingStore(url, [last])
        #expect(try again.values("Trip", "days") == [.integer(1)])
        #expect(try again.problems() == [])
    }

    @Test(arguments: scalars.filter { !$0.isEmpty })
    func `names of entities and properties can contain it`(scalar: String) throws {
        let odd = "a\"\(scalar)b'\(scalar)"
        let entity = { (days: String) in
            EntityDescription(
                odd,
                attributes: [
                    .init("\(scalar)\"", .string), .init("\"\(scalar)", .string, isOptional: true),
                    .init("'\(scalar)", .double, isOptional: true),
                    .init(days, .int64, renamingIdentifier: "days\"\(scalar)"),
                ],
                relationships: [
                    .init("many\"\(scalar)", to: odd, .many), .init("one\"\(scalar)", to: odd, .one),
                ],
                indexes: [
                    .init(["\"\(scalar)"], kind: .fullText(.init(tokenizer: .trigram))), .init(["'\(scalar)"]),
                    .init(["\(scalar)\""], kind: .fullText(.init())),
                ],
                uniquenessConstraints: [["\(scalar)\""]]
            )
        }
        let store = try MigratingStore(url, [entity("days\"\(scalar)")])
        let object = store.insert(
            odd,
            [
                "\(scalar)\"": .text("some words"), "\"\(scalar)": .text("others"), "'\(scalar)": .real(-0.0),
                "days\"\(scalar)": .integer(4),
            ]
        )
        object.setMembers([object], forRelationship: "many\"\(scalar)")
        try store.context.save()
        var search = FetchRequest(store.entity(odd))
        search.search = FullTextSearch(.words("words"), in: ["\(scalar)\""])
        #expect(try store.context.fetchIDs(search).count == 1)
        #expect(try store.problems() == [])
        store.insert(odd, ["\(scalar)\"": .text("some words"), "days\"\(scalar)": .integer(5)])
        // The names of the violated index are found in the model.
        #expect(throws: ObjectGraphError.self) { try store.context.save() }
        try store.close()
        let next = try MigratingStore(url, [entity("later\"\(scalar)")])
        #expect(try next.values(odd, "later\"\(scalar)") == [.integer(4)])
        #expect(try next.objects(odd).first?.members(forRelationship: "many\"\(scalar)").count == 1)
        let path = QueryExpression.path(try #require(next.entity(odd).propertiesByName["\"\(scalar)"]))
        let contains = QueryExpression.function(.contains, [path, .literal(.text("ther"))])
        #expect(try next.context.count(FetchRequest(next.entity(odd), predicate: contains)) == 1)
        let plan = try next.context.explain(FetchRequest(next.entity(odd)))
        #expect(plan.scannedTables.map(Self.bytes) == [Self.bytes(odd)])
        #expect(try next.problems() == [])
    }

    @Test(arguments: scalars)
    func `searched texts can contain it`(scalar: String) throws {
        let store = try MigratingStore(
            url,
            [
                EntityDescription(
                    "Article",
                    attributes: [.init("title", .string)],
                    indexes: [.init(["title"], kind: .fullText(.init()))]
                )
            ]
        )
        store.insert("Article", ["title": .text("alpha beta")])
        try store.context.save()
        var search = FetchRequest(store.entity("Article"))
        search.search = FullTextSearch(.words("alpha\"\(scalar) \"\(scalar)beta"))
        #expect(throws: Never.self) { try store.context.fetchIDs(search) }
    }
}
