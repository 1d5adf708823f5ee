import ObjectGraph
import Testing

@Suite("Fetches with predicate formats") struct FormatFetchTests {
    private static let model = Fixtures.library
    private static let book = model.entitiesByName["Book"]!

    /// Three books, two of them with an author.
    private static func fill(_ context: ManagedObjectContext) {
        let soseki = context.make("Author", ["name": "Natsume Sōseki", "born": 1867])
        let ozu = context.make("Author", ["name": "ozu"])
        let tags = ["novel", "Classic", "short"].map { context.make("Tag", ["name": .text($0)]) }
        let kokoro = context.make("Book", ["name": "Kokoro", "pages": 248, "price": 9.5])
        kokoro[one: "author"] = soseki
        kokoro[many: "tags"] = [tags[0], tags[1]]
        let stories = context.make("Book", ["name": "Ten Nights' Dréams", "pages": 60])
        stories[one: "author"] = ozu
        stories[many: "tags"] = [tags[2]]
        context.make("Book", ["pages": 7, "price": 1.25])
        for (name, book) in [("one", kokoro), ("two", kokoro), ("three", stories)] {
            context.make("Chapter", ["name": .text(name)])[one: "book"] = book
        }
    }

    static let formats: [(format: String, pages: [Int64])] = [
        ("name CONTAINS[cd] 'dreams'", [60]), ("name ==[c] 'KOKORO'", [248]), ("name != 'Kokoro'", [60, 7]),
        ("name LIKE 'K?k*'", [248]), ("name LIKE[c] '*NIGHTS*'", [60]), ("name MATCHES '[A-Z]okoro'", [248]),
        ("name MATCHES[c] 'KOKORO|x'", [248]), ("name BEGINSWITH 'Ten' OR name ENDSWITH 'oro'", [248, 60]),
        ("name IN[c] {'kokoro', 'x'}", [248]), ("name == NIL", [7]), ("NOT (name CONTAINS 'o')", [60, 7]),
        ("pages BETWEEN {7, 60}", [60, 7]), ("pages * 2 > 100 AND price != NIL", [248]), ("pages %% 2 == 1", [7]),
        ("price + 1 < 3", [7]), ("sqrt(pages) > 7.5", [248, 60]), ("pages ** 2 == 49", [7]),
        ("abs(-pages) == 60", [60]),
        ("TERNARY(price == NIL, 0, price) < 2", [60, 7]), ("max(pages, 50) == 50", [7]), ("length(name) == 6", [248]),
        ("uppercase(name) == 'KOKORO'", [248]), ("author.name ENDSWITH 'zu'", [60]), ("author == NIL", [7]),
        ("author.born > 1800", [248]), ("ANY tags.name == 'novel'", [248]), ("ANY tags.name ==[c] 'CLASSIC'", [248]),
        ("NONE tags.name == 'novel'", [60, 7]), ("ALL tags.name CONTAINS 'o'", [60, 7]), ("tags.@count > 1", [248]),
        ("chapters.@count == 0", [7]), ("SUBQUERY(chapters, $c, $c.name CONTAINS 'o').@count == 2", [248]),
        ("SUBQUERY(tags, $t, $t.books.@count == 1 AND $t.name != name).@count > 1", [248]),
        ("author.books.@sum.pages > 100", [248]), ("ANY author.books.tags.name == 'short'", [60]),
        ("tags.name CONTAINS 'short' OR 'novel' IN tags.name", [248, 60]), ("author.books.@avg.pages == 60", [60]),
        ("tags.books.@count == 0", [7]), ("tags.books.@count < 2", [60, 7]),
        ("author.books.chapters.@count == 2", [248]), ("author.books.chapters.@count == 0 AND author == NULL", [7]),
        ("pages / 2.0 == 3.5", [7]), ("pages * 1e300 > 1", [248, 60, 7]), ("average({pages, 8}) == 7.5", [7]),
        ("author.books.@max.price > 9", [248]), ("TRUEPREDICATE", [248, 60, 7]), ("FALSEPREDICATE OR pages == 7", [7]),
    ]

    private static func pages(_ books: [ManagedObject]) -> [Int64] {
        books.map { if case .integer(let pages) = $0["pages"] { pages } else { -1 } }
    }

    @Test(arguments: StoreKind.allCases, 0..<formats.count)
    func `a predicate format has the same results in the store and in memory`(kind: StoreKind, index: Int) throws {
        let (format, expected) = Self.formats[index]
        let context = try TestStore(kind).context()
        Self.fill(context)
        let request = try FetchRequest(Self.book, format: format)
        #expect(Self.pages(try context.fetch(request)) == expected, "\(format), not saved")
        try context.save()
        #expect(Self.pages(try context.fetch(request)) == expected, "\(format), saved")
        // The printed format has the same results.
        let predicate = try #require(request.predicate)
        let written = predicate.predicateFormat(showingValuesFor: Self.book)
        #expect(try QueryExpression(format: written, entity: Self.book) == predicate, "\(written)")
    }

    @Test(arguments: StoreKind.allCases) func `objects and identifiers are arguments`(kind: StoreKind) throws {
        let context = try TestStore(kind).context()
        Self.fill(context)
        try context.save()
        let soseki = try context.one("Author", where: Self.model.path("Author", "name") == "Natsume Sōseki")
        func pages(_ format: String, _ arguments: Any?...) throws -> [Int64] {
            Self.pages(try context.fetch(FetchRequest(Self.book, format: format, arguments: arguments)))
        }
        #expect(try pages("author == %@", soseki) == [248])
        #expect(try pages("author != %@", soseki.managedObjectID) == [60, 7])
        #expect(try pages("author IN %@", [soseki, nil]) == [248, 7])
        let kokoro = try #require(soseki[many: "books"].first)
        #expect(try pages("SELF == %@", kokoro) == [248])
        #expect(try pages("NOT SELF IN %@", [kokoro]) == [60, 7])
        let tag = try #require(kokoro[many: "tags"].first)
        #expect(try pages("tags CONTAINS %@", tag) == [248])
        #expect(try pages("%@ IN tags", tag) == [248])
        #expect(try pages("ANY tags == %@", tag) == [248])
    }

    @Test(arguments: StoreKind.allCases) func `a value format can be a column and a sort key`(kind: StoreKind) throws {
        let context = try TestStore(kind).context()
        Self.fill(context)
        try context.save()
        func value(_ format: String) throws -> QueryExpression {
            try QueryExpression(valueFormat: format, entity: Self.book)
        }
        var request = DictionaryFetchRequest(
            Self.book,
            [
                ExpressionDescription("writer", try value("author.name")),
                ExpressionDescription("tags", try value("tags.@count")),
            ]
        )
        request.sort = [QuerySort(try value("coalesce(price, 100) * 2"))]
        #expect(
            try context.fetchDictionaries(request).map { Array($0.values) }
                == [[.null, 0], ["Natsume Sōseki", 2], ["ozu", 1]]
        )
    }

    @Test(arguments: StoreKind.allCases) func `text in arguments cannot change the predicate`(kind: StoreKind) throws {
        let context = try TestStore(kind).context()
        Self.fill(context)
        try context.save()
        for attack in ["' OR 1=1 --", "\"; DROP TABLE Book; --", "%@", "$x", "\\", "*", "x') OR TRUEPREDICATE OR ('"] {
            for format in ["name == %@", "name CONTAINS[cd] %@ AND name LIKE '?'", "name IN {%@}"] {
                let request = try FetchRequest(Self.book, format: format, arguments: [attack])
                #expect(try context.fetch(request, as: ManagedObject.self).isEmpty, "\(format) \(attack)")
            }
        }
        #expect(try context.all("Book").count == 3)
    }
}
