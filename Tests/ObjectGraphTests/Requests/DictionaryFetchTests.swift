import Foundation
import ObjectGraph
import Testing

@Suite struct DictionaryFetchTests {
    private static let model = Fixtures.library
    private static let name = model.path("Book", "name")
    private static let pages = model.path("Book", "pages")
    private static let price = model.path("Book", "price")
    private static let author = model.path("Book", "author", "name")

    /// Two books of "a", one of "b", one without an author.
    private static func context(_ kind: StoreKind) throws -> (TestStore, ManagedObjectContext) {
        let store = try TestStore(kind)
        let context = store.context()
        let authors = ["a", "b"].map { context.make("Author", ["name": .text($0)]) }
        let books: [(String, Value, Value, ManagedObject?)] = [
            ("one", 100, 1.5, authors[0]), ("two", 300, .null, authors[0]), ("three", 50, 2.5, authors[1]),
            ("four", .null, 2.5, nil),
        ]
        for (name, pages, price, author) in books {
            context.make("Book", ["name": .text(name), "pages": pages, "price": price])[one: "author"] = author
        }
        try context.save()
        return (store, context)
    }

    private static func request(_ columns: (String, QueryExpression)...) -> DictionaryFetchRequest {
        DictionaryFetchRequest(model.entitiesByName["Book"]!, columns.map { ExpressionDescription($0.0, $0.1) })
    }

    private static func rows(_ context: ManagedObjectContext, _ request: DictionaryFetchRequest) throws -> [[Value]] {
        try context.fetchDictionaries(request).map { Array($0.values) }
    }

    @Test(arguments: StoreKind.allCases)
    func `rows have the values of attributes, paths and computed expressions under their names`(kind: StoreKind) throws
    {
        let (store, context) = try Self.context(kind)
        defer { _ = store }
        let results = try context.fetchDictionaries(
            Self.request(
                ("title", Self.name),
                ("by", Self.author),
                ("double", .arithmetic(.multiply, Self.pages, .literal(2)))
            )
        )
        #expect(results.columnNames == ["title", "by", "double"])
        #expect(results.count == 4)
        #expect(results[0]["title"] == "one")
        #expect(results[0]["by"] == "a")
        #expect(results[0].dictionary == ["title": "one", "by": "a", "double": 200])
        #expect(results[3].dictionary == ["title": "four", "by": .null, "double": .null])
    }

    @Test(arguments: StoreKind.allCases)
    func `without properties to fetch a row has all attributes and to-one relationships`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        defer { _ = store }
        let results = try context.fetchDictionaries(Self.request())
        #expect(results.columnNames == ["name", "pages", "price", "author", "translator", "cover"])
        let author = try context.one("Author", where: Self.model.path("Author", "name") == "b")
        #expect(results[2]["author"] == .integer(author.managedObjectID.key))
    }

    @Test(arguments: StoreKind.allCases)
    func `aggregates are computed from all objects that are not null`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        defer { _ = store }
        let request = Self.request(
            ("all", .objectCount),
            ("count", .aggregate(.count, of: Self.pages)),
            ("prices", .aggregate(.distinctCount, of: Self.price)),
            ("sum", .aggregate(.sum, of: Self.pages)),
            ("average", .aggregate(.average, of: Self.pages)),
            ("least", .aggregate(.minimum, of: Self.name)),
            ("most", .aggregate(.maximum, of: Self.price)),
            ("ratio", .arithmetic(.divide, .aggregate(.sum, of: Self.price), .objectCount))
        )
        #expect(try Self.rows(context, request) == [[4, 3, 2, 450, 150.0, "four", 2.5, 1.625]])
    }

    @Test(arguments: StoreKind.allCases)
    func `aggregates without objects are one row of zeros and nulls, groups no row`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        defer { _ = store }
        var request = Self.request(
            ("count", .objectCount),
            ("sum", .aggregate(.sum, of: Self.pages)),
            ("average", .aggregate(.average, of: Self.pages)),
            ("least", .aggregate(.minimum, of: Self.pages))
        )
        request.predicate = .bool(false)
        #expect(try Self.rows(context, request) == [[0, .null, .null, .null]])
        request.propertiesToGroupBy = [Self.author]
        #expect(try Self.rows(context, request).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `each group has one row, in the order of the grouping values`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        defer { _ = store }
        var request = Self.request(
            ("by", Self.author),
            ("count", .objectCount),
            ("pages", .aggregate(.sum, of: Self.pages))
        )
        request.propertiesToGroupBy = [Self.author]
        #expect(try Self.rows(context, request) == [[.null, 1, .null], ["a", 2, 400], ["b", 1, 50]])
        request.sort = [QuerySort(.aggregate(.sum, of: Self.pages), ascending: false)]
        #expect(try Self.rows(context, request) == [["a", 2, 400], ["b", 1, 50], [.null, 1, .null]])
        request.havingPredicate = .and([.aggregate(.sum, of: Self.pages) > 0, Self.author != .null])
        request.offset = 1
        request.limit = 5
        #expect(try Self.rows(context, request) == [["b", 1, 50]])
    }

    @Test(arguments: StoreKind.allCases)
    func `groups are made by computed values`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        defer { _ = store }
        let isLong = Self.pages > 75
        var request = Self.request(("long", isLong), ("count", .objectCount))
        request.propertiesToGroupBy = [isLong]
        #expect(try Self.rows(context, request) == [[0, 2], [1, 2]])
        request.propertiesToGroupBy = [.and([])]
        request.propertiesToFetch = [.init("count", .objectCount)]
        #expect(try Self.rows(context, request) == [[4]])
    }

    @Test(arguments: StoreKind.allCases)
    func `distinct rows are unique, sorted by the sort keys or by all columns`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        defer { _ = store }
        var request = Self.request(("price", Self.price))
        request.returnsDistinctResults = true
        #expect(try Self.rows(context, request) == [[.null], [1.5], [2.5]])
        request.sort = [QuerySort(Self.price, ascending: false)]
        request.limit = 2
        #expect(try Self.rows(context, request) == [[2.5], [1.5]])
        request.sort = [QuerySort(Self.name)]
        #expect(throws: QueryError.sortedByUnfetchedValue) { try context.fetchDictionaries(request) }
    }

    @Test(arguments: StoreKind.allCases)
    func `rows are sorted, limited and offset like objects`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        defer { _ = store }
        var request = Self.request(("name", Self.name))
        request.sort = [QuerySort(Self.price, ascending: false), QuerySort(Self.name)]
        request.offset = 1
        request.limit = 2
        #expect(try Self.rows(context, request) == [["three"], ["one"]])
        request.limit = -1
        #expect(try Self.rows(context, request).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `dictionaries can exclude unsaved changes`(kind: StoreKind) throws {
        let (store, context) = try Self.context(kind)
        defer { _ = store }
        context.make("Book", ["name": "new", "pages": 1_000])
        for book in try context.all("Book", where: Self.name == "one") { context.delete(book) }
        let request = Self.request(("count", .objectCount), ("pages", .aggregate(.sum, of: Self.pages)))
        #expect(try Self.rows(context, request) == [[4, 450]])
        #expect(context.hasChanges)
        try context.save()
        #expect(try Self.rows(context, request) == [[4, 1_350]])
    }

    @Test(arguments: StoreKind.allCases)
    func `dictionaries take one request and create no objects`(kind: StoreKind) throws {
        let (store, _) = try Self.context(kind)
        let context = store.context()
        store.counter.reset()
        _ = try context.fetchDictionaries(Self.request(("name", Self.name), ("by", Self.author)))
        #expect(store.counter.reads == 1)
        #expect(context.registeredObjects.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `subentities are included unless they are excluded`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.animals)
        let context = store.context()
        context.make("Bird", ["wingspan": 2.0])
        context.make("Penguin", ["wingspan": 1.0])
        context.make("Cat")
        try context.save()
        let sum = QueryExpression.aggregate(.sum, of: store.model.path("Bird", "wingspan"))
        var request = DictionaryFetchRequest(store.model.entitiesByName["Bird"]!, [.init("sum", sum)])
        #expect(try context.fetchDictionaries(request)[0]["sum"] == 3.0)
        request.includesSubentities = false
        #expect(try context.fetchDictionaries(request)[0]["sum"] == 2.0)
    }
}
