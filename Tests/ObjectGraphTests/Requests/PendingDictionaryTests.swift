import Foundation
import ObjectGraph
import Testing

/// Results with unsaved changes equal those of the store after the save.
@Suite struct PendingDictionaryTests {
    private static let model = Fixtures.library
    private static let book = model.entitiesByName["Book"]!
    private static let name = model.path("Book", "name")
    private static let pages = model.path("Book", "pages")
    private static let price = model.path("Book", "price")
    private static let author = model.path("Book", "author")
    private static let authorName = model.path("Book", "author", "name")

    /// Saved books of three authors, and some without an author.
    private static func fill(_ context: ManagedObjectContext) throws {
        let authors = ["a", "b", "c"].map { context.make("Author", ["name": .text($0)]) }
        for number in 0..<20 {
            let book = context.make("Book", ["name": .text("book \(number % 7)")])
            if number % 4 != 0 { book["pages"] = .integer(Int64(number * 10)) }
            if number % 3 != 0 { book["price"] = .real(Double(number % 5)) }
            if number % 6 != 5 { book[one: "author"] = authors[number % 3] }
        }
        try context.save()
    }

    /// Inserts, updates and deletes books; authors stay unchanged.
    private static func changeBooks(_ context: ManagedObjectContext) throws {
        let books = try context.all("Book")
        let authors = try context.all("Author")
        context.delete(books[0])
        books[1]["pages"] = 5
        books[2][one: "author"] = authors[2]
        books[3]["price"] = .null
        for number in 0..<3 {
            context.make("Book", ["name": "new", "pages": .integer(Int64(number))])[one: "author"] = authors[0]
        }
    }

    private static func request(_ expressions: QueryExpression...) -> DictionaryFetchRequest {
        var request = DictionaryFetchRequest(
            book,
            expressions.enumerated().map { ExpressionDescription("\($0)", $1) }
        )
        request.includesPendingChanges = true
        return request
    }

    private static var requests: [DictionaryFetchRequest] {
        let aggregates: [QueryExpression] = [
            .objectCount, .aggregate(.count, of: pages), .aggregate(.distinctCount, of: price),
            .aggregate(.sum, of: pages), .aggregate(.average, of: pages), .aggregate(.minimum, of: name),
            .aggregate(.maximum, of: price),
        ]
        var all = request()
        all.propertiesToFetch = aggregates.enumerated().map { ExpressionDescription("\($0)", $1) }
        var few = all
        few.predicate = pages > 20
        var none = all
        none.predicate = .bool(false)
        var groups = all
        groups.propertiesToGroupBy = [author]
        groups.propertiesToFetch.append(ExpressionDescription("author", author))
        var named = all
        named.propertiesToGroupBy = [name]
        named.havingPredicate = .comparison(.greater, .objectCount, .literal(2))
        named.sort = [QuerySort(.aggregate(.sum, of: pages), ascending: false)]
        named.offset = 1
        named.limit = 3
        var emptyGroups = groups
        emptyGroups.predicate = .bool(false)
        var plain = request(name, pages, .arithmetic(.add, pages, .literal(1)))
        plain.sort = [QuerySort(price, ascending: false)]
        plain.limit = 12
        var distinct = request(price)
        distinct.returnsDistinctResults = true
        return [all, few, none, groups, named, emptyGroups, plain, distinct]
    }

    private static func rows(_ context: ManagedObjectContext, _ request: DictionaryFetchRequest) throws -> [[Value]] {
        try context.fetchDictionaries(request).map { Array($0.values) }
    }

    @Test(arguments: StoreKind.allCases, 0..<requests.count)
    func `the results include inserted, updated and deleted objects`(kind: StoreKind, index: Int) throws {
        let context = try TestStore(kind).context()
        try Self.fill(context)
        try Self.changeBooks(context)
        let request = Self.requests[index]
        let pending = try Self.rows(context, request)
        var saved = request
        saved.includesPendingChanges = false
        let before = try Self.rows(context, saved)
        try context.save()
        let after = try Self.rows(context, saved)
        #expect(pending == after)
        if index == 0 { #expect(before != after) }
    }

    @Test(arguments: StoreKind.allCases)
    func `the results include changes of related objects`(kind: StoreKind) throws {
        let context = try TestStore(kind).context()
        try Self.fill(context)
        try context.all("Author")[1]["name"] = "a"
        try Self.changeBooks(context)
        var request = Self.request(Self.authorName, .objectCount)
        request.propertiesToGroupBy = [Self.authorName]
        let pending = try Self.rows(context, request)
        #expect(pending.map(\.first) == [.null, "a", "c"])
        try context.save()
        #expect(try Self.rows(context, request) == pending)
    }

    @Test(arguments: StoreKind.allCases)
    func `an overflow is an error with unsaved changes too`(kind: StoreKind) throws {
        let context = try TestStore(kind).context()
        context.make("Book", ["pages": .integer(.max)])
        try context.save()
        context.make("Book", ["pages": 1])
        #expect(throws: QueryError.arithmeticOverflow) {
            try context.fetchDictionaries(Self.request(.aggregate(.sum, of: Self.pages)))
        }
    }

    @Test func `a context without changes fetches the results from the store`() throws {
        let store = try TestStore(.sealed)
        let context = store.context()
        try Self.fill(context)
        store.counter.reset()
        _ = try Self.rows(context, Self.requests[3])
        #expect(store.counter.reads == 1)
    }
}
