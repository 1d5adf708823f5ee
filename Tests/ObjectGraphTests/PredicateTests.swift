import ObjectGraph
import Testing

@Suite struct PredicateTests {
    private static let model = Fixtures.library

    /// Books with and without values, authors and tags.
    private static func fill(_ context: ManagedObjectContext) {
        let authors = ["Ä", "b", "B", nil].enumerated().map { number, name in
            context.make("Author", ["name": name.map { .text($0) } ?? .null, "born": .integer(Int64(1800 + number))])
        }
        let tags = ["x", "y", "z"].map { context.make("Tag", ["name": .text($0)]) }
        for number in 0..<24 {
            let book = context.make("Book")
            if number % 5 != 0 {
                book["name"] = .text(["Alpha", "beta", "Gamma", "ALPHA beta", ""][number % 5] + "\(number % 3)")
            }
            if number % 4 != 0 { book["pages"] = .integer(Int64(number % 7) - 3) }
            if number % 3 != 0 { book["price"] = .real(Double(number) / 4) }
            if number % 6 != 5 { book[one: "author"] = authors[number % 4] }
            book[many: "tags"] = tags.enumerated().filter { number & (1 << $0.offset) != 0 }.map(\.element)
        }
    }

    private static var conditions: [(String, QueryExpression)] {
        let name = model.path("Book", "name")
        let pages = model.path("Book", "pages")
        let price = model.path("Book", "price")
        let author = model.path("Book", "author")
        let born = model.path("Book", "author", "born")
        let tags = model.properties("Book", ["tags"])
        let tagName = model.path(1, "Tag", "name")
        let books = model.properties("Book", ["author", "books"])
        return [
            ("true", .bool(true)), ("false", .bool(false)),
            ("equal", pages == 2), ("not equal", pages != 2), ("less", pages < 0), ("greater", pages > 1),
            ("less or equal", .comparison(.lessOrEqual, pages, .literal(0))),
            ("greater or equal", .comparison(.greaterOrEqual, pages, .literal(0))),
            ("equal to nothing", pages == .null), ("not equal to nothing", pages != .null),
            ("less than nothing", pages < .null),
            ("not less", .not(pages < 0)), ("not greater", .not(pages > 0)),
            ("integer and real", .comparison(.less, pages, price)),
            ("two properties", .comparison(.equal, pages, price)),
            ("and", .and([pages > 0, price > 2])), ("or", .or([pages > 2, price > 4])),
            ("and of none", .and([])), ("or of none", .or([])),
            ("not and", .not(.and([pages > 0, price > 2]))),
            ("member", .isMember(pages, of: [1, 2, -3])), ("member with nothing", .isMember(pages, of: [1, .null])),
            ("member of none", .isMember(pages, of: [])), ("text member", .isMember(name, of: ["Alpha0", "beta1"])),
            ("contains", .function(.contains, [name, .literal("a")])),
            ("contains nothing", .function(.contains, [name, .literal("")])),
            ("starts with", .function(.startsWith, [name, .literal("Al")])),
            ("ends with", .function(.endsWith, [name, .literal("a1")])),
            ("wildcards are letters", .function(.contains, [name, .literal("%")])),
            ("without case", .function(.localizedContains, [name, .literal("alpha")])),
            ("length", .function(.length, [name]) > 5),
            ("negative", .function(.negate, [pages]) > 1),
            ("smaller of two", .function(.minimum, [pages, .literal(1)]) == 1),
            ("larger of two", .function(.maximum, [pages, .literal(1)]) == 1),
            ("sum", .arithmetic(.add, pages, .literal(1)) > 2),
            ("difference", .arithmetic(.subtract, price, pages) > 1),
            ("product", .arithmetic(.multiply, pages, pages) == 4),
            ("quotient", .arithmetic(.divide, pages, .literal(2)) == 1),
            ("quotient of reals", .arithmetic(.divide, price, .literal(2)) > 1),
            ("remainder", .arithmetic(.remainder, pages, .literal(2)) == -1),
            ("without author", author == .null), ("with author", author != .null),
            ("across a relationship", born > 1801), ("nothing across a relationship", born == .null),
            ("not across a relationship", .not(born > 1801)),
            ("text across a relationship", model.path("Book", "author", "name") == "b"),
            ("nothing at the end", model.path("Book", "author", "name") == .null),
            ("any", .quantified(.any, .members(from: 0, tags), variable: 1, condition: tagName == "y")),
            ("all", .quantified(.all, .members(from: 0, tags), variable: 1, condition: tagName != "y")),
            ("any of none", .quantified(.any, .members(from: 0, tags), variable: 1, condition: .bool(true))),
            ("not any", .not(.quantified(.any, .members(from: 0, tags), variable: 1, condition: tagName == "x"))),
            ("count", .count(.members(from: 0, tags), variable: 1, condition: .bool(true)) == 2),
            ("count with a condition", .count(.members(from: 0, tags), variable: 1, condition: tagName > "x") == 1),
            ("count across", .count(.members(from: 0, books), variable: 1, condition: .bool(true)) > 4),
            ("count of nothing", .count(.members(from: 0, books), variable: 1, condition: .bool(true)) == .null),
            (
                "members compared with the object",
                .quantified(
                    .any,
                    .members(from: 0, books),
                    variable: 1,
                    condition: .comparison(.greater, model.path(1, "Book", "pages"), pages)
                )
            ),
            (
                "quantifiers in each other",
                .quantified(
                    .any,
                    .members(from: 0, tags),
                    variable: 1,
                    condition: .quantified(
                        .all,
                        .members(from: 1, model.properties("Tag", ["books"])),
                        variable: 2,
                        condition: .comparison(.lessOrEqual, model.path(2, "Book", "price"), .literal(5))
                    )
                )
            ),
            ("coalesced", .coalesce([pages, .literal(2)]) == 2),
            ("conditional value", .conditional(price > 3, pages, .literal(1)) == 1),
            ("conditional", .conditional(price > 3, pages > 0, author == .null)),
            ("kind", .isKind(from: 0, [], of: model.entitiesByName["Book"]!)),
            (
                "kind across",
                .isKind(from: 0, model.properties("Book", ["author"]), of: model.entitiesByName["Author"]!)
            ),
            (
                "other kind across",
                .not(.isKind(from: 0, model.properties("Book", ["author"]), of: model.entitiesByName["Book"]!))
            ),
            ("other kind", .isKind(from: 0, [], of: model.entitiesByName["Tag"]!)),
        ] + long + failing + notANumber
    }

    /// More operands than SQLite allows in one chain, and a list of integers and reals that is no list of parameters.
    private static var long: [(String, QueryExpression)] {
        let name = model.path("Book", "name")
        let searches = (0..<1200).map { QueryExpression.function(.contains, [name, .literal(.text("w\($0)"))]) }
        let search = QueryExpression.function(.contains, [name, .literal("a")])
        let list = [.real(0.5)] + (1...1100).map { Value.integer($0) }
        return [
            ("many alternatives", .or(searches + [search])),
            ("many requirements", .and(searches.map { .not($0) } + [search])),
            ("a long list of integers and reals", .isMember(model.path("Book", "pages"), of: list)),
            ("not in such a list", .not(.isMember(model.path("Book", "pages"), of: list + [.null]))),
        ]
    }

    /// Operands that may fail, before and after others.
    private static var failing: [(String, QueryExpression)] {
        let pages = model.path("Book", "pages")
        let price = model.path("Book", "price")
        func sum(_ number: Int) -> QueryExpression { .arithmetic(.add, pages, .literal(.integer(Int64(number)))) }
        return [
            ("alternatives that may fail", .or((1...40).map { sum($0) == 42 })),
            ("requirements that may fail", .and((1...40).map { sum($0) != 42 })),
            ("neither alternative that may fail", .not(.or((1...40).map { sum($0) == 42 }))),
            ("some requirements may fail", .and([price > 1, sum(1) > 0, pages != 3, sum(2) < 4, price < 5])),
            ("some alternatives may fail", .or([price > 5, sum(1) < 0, pages == 3, sum(2) == 4, price == .null])),
            ("the first may fail", .and([.or([sum(1) > 2, price > 4]), .and([sum(2) < 5, pages != 0])])),
        ]
    }

    /// Calculations whose results are numbers, NaN and null.
    private static var notANumber: [(String, QueryExpression)] {
        let price = model.path("Book", "price")
        let zero = QueryExpression.arithmetic(.multiply, price, .literal(.real(0)))
        let none = QueryExpression.arithmetic(.divide, zero, zero)
        let some = QueryExpression.conditional(price > 3, none, price)
        return [
            ("NaN equals NaN", .comparison(.equal, none, none)), ("NaN or null", .comparison(.equal, some, some)),
            ("NaN differs from NaN", .comparison(.notEqual, some, some)),
            ("NaN equals a property", .comparison(.equal, price, some)), ("NaN is null", some == .null),
            ("NaN is not null", some != .null), ("NaN equals a constant", .not(some == .real(0.5))),
            ("NaN in place of null", .coalesce([some, .literal(.real(1))]) == .real(1)),
            ("NaN in a list", .isMember(some, of: [.null, .real(0.5)])),
            ("the root of NaN", .comparison(.notEqual, .function(.squareRoot, [none]), price)),
        ]
    }

    @Test(arguments: StoreKind.allCases, 0..<90)
    func `a predicate has the same results in the store and in memory`(kind: StoreKind, number: Int) throws {
        guard number < Self.conditions.count else { return }
        let (name, condition) = Self.conditions[number]
        try Self.compare(condition, name, kind)
    }

    private static func compare(_ condition: QueryExpression, _ name: String, _ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let unsaved = store.context()
        Self.fill(unsaved)
        let inMemory = try unsaved.all("Book", where: condition).map {
            Self.position(of: $0, in: unsaved.insertedObjects)
        }
        try unsaved.save()
        let reader = store.context()
        let keys = try reader.all("Book").map(\.managedObjectID.key)
        let inStore = try reader.all("Book", where: condition).map { keys.firstIndex(of: $0.managedObjectID.key)! }
        #expect(inStore == inMemory, "\(name)")
        #expect(try reader.count(reader.request("Book", where: condition)) == inMemory.count, "the count of \(name)")
        let ids = try reader.fetchIDs(reader.request("Book", where: condition))
        #expect(ids.map(\.key) == inStore.map { keys[$0] }, "the identifiers of \(name)")
    }

    @Test func `every condition is tested`() { #expect(Self.conditions.count <= 90) }

    private static func position(of book: ManagedObject, in objects: [any GraphObject]) -> Int {
        let books = objects.filter { $0.managedObjectID.entity.name == "Book" }
        return books.firstIndex { $0 === book }!
    }

    @Test(arguments: StoreKind.allCases)
    func `the order is the same in the store and in memory`(kind: StoreKind) throws {
        let sorts: [[QuerySort]] = [
            [],
            [QuerySort(Self.model.path("Book", "pages"))],
            [QuerySort(Self.model.path("Book", "pages"), ascending: false)],
            [
                QuerySort(Self.model.path("Book", "name")),
                QuerySort(Self.model.path("Book", "price"), ascending: false),
            ],
            [QuerySort(Self.model.path("Book", "author", "name")), QuerySort(Self.model.path("Book", "pages"))],
            [QuerySort(Self.model.path("Book", "pages") > 0)],
        ]
        for (number, sort) in sorts.enumerated() {
            let store = try TestStore(kind)
            let unsaved = store.context()
            Self.fill(unsaved)
            let inMemory = try unsaved.all("Book", sortedBy: sort).map {
                Self.position(of: $0, in: unsaved.insertedObjects)
            }
            try unsaved.save()
            let reader = store.context()
            let keys = try reader.all("Book").map(\.managedObjectID.key)
            #expect(keys == keys.sorted(), "the order without a sort")
            let inStore = try reader.all("Book", sortedBy: sort).map { keys.firstIndex(of: $0.managedObjectID.key)! }
            #expect(inStore == inMemory, "sort \(number)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `integers that overflow in a condition are an error, not a trap`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        context.make("Book", ["pages": .integer(.max)])
        let condition = QueryExpression.arithmetic(.add, Self.model.path("Book", "pages"), .literal(1)) > 0
        #expect(throws: QueryError.arithmeticOverflow) { try context.all("Book", where: condition) }
        try context.save()
        #expect(throws: QueryError.arithmeticOverflow) { try store.context().all("Book", where: condition) }
    }

    @Test(arguments: StoreKind.allCases)
    func `an operand that short-circuiting skips does not fail`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        context.make("Book", ["pages": 0])
        context.make("Book", ["pages": 5])
        try context.save()
        let pages = Self.model.path("Book", "pages")
        let quotient = QueryExpression.arithmetic(.divide, .literal(10), pages)
        let reader = store.context()
        #expect(try reader.all("Book", where: .and([pages != 0, quotient == 2])).count == 1)
        #expect(try reader.all("Book", where: .or([pages == 0, quotient == 2])).count == 2)
        #expect(throws: QueryError.arithmeticOverflow) { try reader.all("Book", where: quotient == 2) }
        let never = QueryExpression.arithmetic(.divide, .literal(1), .literal(0))
        #expect(try reader.all("Book", where: .and([pages > 9, never == 1])).isEmpty)
    }
}
