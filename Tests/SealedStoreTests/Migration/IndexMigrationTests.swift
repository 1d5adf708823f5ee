import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Indexes over tables that are altered, renamed or rebuilt.
@Suite struct IndexMigrationTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private static let indexes: [FetchIndexDescription] = [
        .init(["title"], kind: .fullText(.init())), .init(["x", "y"], kind: .rtree), .init(["title", "x"]),
        .init(["title"], kind: .fullText(.init(tokenizer: .trigram))),
    ]

    private static func model(
        _ name: String = "Place",
        renamedFrom old: String? = nil,
        title: AttributeDescription = .init("title", .string),
        extra: [AttributeDescription] = [],
        indexes: [FetchIndexDescription] = indexes
    ) -> [EntityDescription] {
        [
            EntityDescription(
                name,
                attributes: [title, .init("x", .double), .init("y", .double)] + extra,
                indexes: indexes,
                renamingIdentifier: old
            ),
            EntityDescription(
                "Town",
                superentity: name,
                attributes: [.init("motto", .string, isOptional: true)],
                indexes: [.init(["motto"], kind: .fullText(.init()))]
            ),
        ]
    }

    private func write() throws {
        let store = try MigratingStore(url, Self.model(extra: [.init("old", .int64)]))
        for number in 0..<30 {
            let values: [String: Value] = [
                "title": .text("Straße number \(number)"), "x": .real(Double(number)), "y": .real(1),
                "old": .integer(0),
            ]
            let object = store.insert(number % 2 == 0 ? "Place" : "Town", values)
            if number % 2 == 1 { object["motto"] = .text("motto \(number)") }
        }
        try store.saveAndClose()
    }

    /// Uses all indexes, after a change of a row.
    private func check(_ store: MigratingStore, _ name: String, title: String = "title") throws {
        let place = store.entity(name)
        let changed = try #require(try store.objects("Town").first)
        changed[title] = .text("zebra crossing")
        try store.context.save()
        var search = FetchRequest(place)
        search.search = FullTextSearch("zebra")
        #expect(try store.context.fetchIDs(search).count == 1)
        search.search = FullTextSearch("number")
        #expect(try store.context.fetchIDs(search).count == 29)
        let path = { (name: String) in QueryExpression.path(place.propertiesByName[name]!) }
        let range = QueryExpression.and([
            .comparison(.greater, path("x"), .literal(.real(3))), .comparison(.less, path("x"), .literal(.real(6))),
            .comparison(.greater, path("y"), .literal(.real(0))),
        ])
        #expect(try store.context.count(FetchRequest(place, predicate: range)) == 2)
        #expect(try store.problems() == [])
    }

    @Test func `indexes of a renamed table with a renamed column stay as they are`() throws {
        try write()
        let next = Self.model(
            "Spot",
            renamedFrom: "Place",
            title: .init("name", .string, renamingIdentifier: "title"),
            extra: [.init("old", .int64), .init("new", .int64, isOptional: true)],
            indexes: [
                .init(["name"], kind: .fullText(.init())), .init(["x", "y"], kind: .rtree), .init(["name", "x"]),
                .init(["name"], kind: .fullText(.init(tokenizer: .trigram))),
            ]
        )
        let preview = try SealedStore.migrationPreview(
            of: MigratingStore.description(url),
            to: ManagedObjectModel(entities: next)
        )
        #expect(preview.steps.map(\.kind) == [.renameTable, .renameColumns, .addColumns, .recordModel])
        let store = try MigratingStore(url, next)
        try check(store, "Spot", title: "name")
        try store.close()
        let again = try MigratingStore(url, next, allowsMigration: false)
        #expect(try again.problems() == [])
    }

    @Test func `indexes of a rebuilt table are built anew`() throws {
        try write()
        let store = try MigratingStore(url, Self.model())
        try check(store, "Place")
    }

    @Test func `an index is dropped with its attribute, and if the attribute cannot have such an index`() throws {
        try write()
        let next = [
            EntityDescription(
                "Place",
                attributes: [.init("title", .data), .init("y", .double)],
                indexes: [.init(["y"])]
            )
        ]
        let options = try MigratingStore.plan(Self.model(extra: [.init("old", .int64)]), next)
        let store = try MigratingStore(url, next, options: options)
        let definitions = try store.definitions().joined(separator: "\n")
        #expect(!definitions.contains("fts5") && !definitions.contains("rtree"))
        #expect(try store.objects("Place").count == 15)
        #expect(try store.problems() == [])
    }

    @Test func `a rebuilt table keeps the indexes of other programs whose columns exist`() throws {
        let before = [
            EntityDescription("Place", attributes: [.init("name", .string), .init("x", .int64), .init("y", .double)])
        ]
        let first = try MigratingStore(url, before)
        first.insert("Place", ["name": .text("a"), "x": .integer(1), "y": .real(2)])
        try first.context.save()
        try first.store().opened.database.write { connection in
            try connection.execute(
                """
                CREATE INDEX "mine" ON "Place" ("name" COLLATE NOCASE DESC, "x"); CREATE INDEX "gone" ON "Place" ("y", "x");
                CREATE INDEX "part" ON "Place" ("x") WHERE name > 'y' AND "x" > 1;
                CREATE INDEX [a sum] ON Place (x + 1, /* "y" */ CAST(name AS x) COLLATE nocase, `x` IS NULL DESC);
                CREATE INDEX "call" ON "Place" (upper("name"), 1) WHERE [x] <> x'00' OR x <> '"name"' -- y
                """
            )
        }
        try first.close()
        let after = [
            EntityDescription(
                "Place",
                attributes: [.init("title", .string, renamingIdentifier: "name"), .init("x", .string)]
            )
        ]
        for _ in 0..<2 {
            let store = try MigratingStore(url, after, options: MigratingStore.plan(before, after))
            let indexes = try store.definitions().filter { $0.hasPrefix("CREATE INDEX") }
            #expect(
                indexes == [
                    #"CREATE INDEX "a sum" ON "Place" ("x" + 1, /* "y" */ CAST("title" AS x) COLLATE nocase, "x" IS NULL DESC)"#,
                    #"CREATE INDEX "call" ON "Place" (upper("title"), 1) WHERE "x" <> x'00' OR "x" <> '"name"' -- y"#,
                    #"CREATE INDEX "mine" ON "Place" ("title" COLLATE NOCASE DESC, "x")"#,
                    #"CREATE INDEX "part" ON "Place" ("x") WHERE "title" > 'y' AND "x" > 1"#,
                ]
            )
            #expect(try store.problems() == [])
            try store.close()
        }
    }

    @Test func `an index of another program that cannot be built is named, and the store stays as it is`() throws {
        let model = { (type: AttributeType) in [EntityDescription("Place", attributes: [.init("number", type)])] }
        let first = try MigratingStore(url, model(.string))
        let number = Value.text(String(Int64.min))
        first.insert("Place", ["number": number])
        try first.context.save()
        try first.store().opened.database.write { connection in
            try connection.execute(#"CREATE INDEX "distance" ON "Place" (abs("number"))"#)
        }
        try first.close()
        #expect(throws: SealedStoreError.foreignIndex("distance")) { try MigratingStore(url, model(.int64)) }
        let store = try MigratingStore(url, model(.string), allowsMigration: false)
        #expect(try store.values("Place", "number") == [number])
        #expect(try store.definitions().contains { $0.contains(#""distance""#) })
        #expect(try store.problems() == [])
    }

    @Test func `the command-line tool reads a migrated store`() throws {
        try write()
        try MigratingStore(
            url,
            Self.model(extra: [.init("old", .int64), .init("new", .string, defaultValue: .text("n"))])
        )
        .close()
        let key = String(repeating: "05", count: 32)
        let result = try run(
            "sqlcipher",
            ["-batch", url.path],
            input: """
                PRAGMA key = "x'\(key)'";
                SELECT count(*), min("new") FROM "Place";
                PRAGMA integrity_check;
                """
        )
        #expect(result.output.contains("30|n"))
        #expect(result.output.hasSuffix("ok\n"))
    }
}
