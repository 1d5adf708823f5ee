import Foundation
import ObjectGraph
import Testing

@Suite struct BatchUpdateTests {
    private static let model = Fixtures.library
    private static let pages = model.path("Book", "pages")
    private static let price = model.path("Book", "price")
    private static let name = model.path("Book", "name")

    /// Ten books of 0 to 9 pages, each with an author born in the year of that number.
    private static func context(_ kind: StoreKind) throws -> (TestStore, ManagedObjectContext, [ManagedObject]) {
        let store = try TestStore(kind)
        let context = store.context()
        let books = (0..<10).map { number in
            let book = context.make("Book", ["name": .text("\(number)"), "pages": .integer(Int64(number))])
            book[one: "author"] = context.make("Author", ["born": .integer(Int64(number))])
            return book
        }
        try context.save()
        return (store, context, books)
    }

    private static func request(
        _ values: [String: QueryExpression],
        where predicate: QueryExpression? = nil
    ) -> BatchUpdateRequest {
        BatchUpdateRequest(model.entitiesByName["Book"]!, propertiesToUpdate: values, predicate: predicate)
    }

    @Test(arguments: StoreKind.allCases)
    func `matching objects get constants and computed values`(kind: StoreKind) throws {
        let (store, context, books) = try Self.context(kind)
        var request = Self.request(
            ["pages": .arithmetic(.add, Self.pages, .literal(100)), "price": Self.pages, "name": .literal("x")],
            where: Self.pages > 7
        )
        request.resultType = .objectIDs
        #expect(try context.execute(request) == .objectIDs(books[8...].map(\.managedObjectID)))
        let found = try store.context().all("Book", where: Self.name == "x")
        #expect(found.map { $0["pages"] } == [108, 109])
        #expect(found.map { $0["price"] } == [8.0, 9.0])
        request = Self.request(["name": .literal(.null)])
        request.resultType = .count
        #expect(try context.execute(request) == .count(10))
        #expect(try context.execute(Self.request([:])) == .statusOnly)
    }

    @Test(arguments: StoreKind.allCases)
    func `registered objects of all contexts show the new values`(kind: StoreKind) throws {
        let (store, context, books) = try Self.context(kind)
        let other = store.context()
        let counterpart = try other.counterpart(of: books[3])
        try context.execute(Self.request(["pages": .literal(77)], where: Self.pages == 3))
        #expect(books[3]["pages"] == 77)
        #expect(books[4]["pages"] == 4)
        _ = try other.count(other.request("Tag"))
        #expect(counterpart["pages"] == 77)
        counterpart["name"] = "saved after"
        try other.save()
        #expect(try store.context().counterpart(of: books[3])["name"] == "saved after")
    }

    @Test(arguments: StoreKind.allCases)
    func `pending changes of an updated object are a conflict`(kind: StoreKind) throws {
        let (store, context, books) = try Self.context(kind)
        let other = store.context()
        let counterpart = try other.counterpart(of: books[3])
        counterpart["name"] = "mine"
        try context.execute(Self.request(["pages": .literal(77)]))
        let failure = #expect(throws: ObjectGraphError.self) { try other.save() }
        guard case .conflicts(let conflicts)? = failure else {
            Issue.record("the error is \(String(describing: failure))")
            return
        }
        #expect(conflicts.map(\.objectID) == [counterpart.managedObjectID])
        other.rollback()
        #expect(counterpart["pages"] == 77)
    }

    @Test(arguments: StoreKind.allCases)
    func `unsaved changes are neither written nor evaluated`(kind: StoreKind) throws {
        let (store, context, books) = try Self.context(kind)
        books[0]["pages"] = 50
        var request = Self.request(["name": .literal("x")], where: Self.pages > 8)
        request.resultType = .count
        #expect(try context.execute(request) == .count(1))
        #expect(books[0].isUpdated)
        #expect(try store.context().counterpart(of: books[0])["pages"] == 0)
        try context.save()
    }

    @Test(arguments: StoreKind.allCases)
    func `values may follow paths and count members`(kind: StoreKind) throws {
        let (store, context, books) = try Self.context(kind)
        books[2][many: "tags"] = [context.make("Tag"), context.make("Tag")]
        try context.save()
        try context.execute(
            Self.request(
                [
                    "pages": .arithmetic(.multiply, Self.model.path("Book", "author", "born"), .literal(10)),
                    "price": .count(
                        .members(from: 0, Self.model.properties("Book", ["tags"])),
                        variable: 1,
                        condition: .bool(true)
                    ),
                ],
                where: Self.model.path("Book", "author", "born") > 1
            )
        )
        #expect(books.map { $0["pages"] } == [0, 1, 20, 30, 40, 50, 60, 70, 80, 90])
        #expect(books[2]["price"] == 2.0)
        #expect(try store.context().counterpart(of: books[9])["pages"] == 90)
    }

    @Test(arguments: StoreKind.allCases)
    func `all values are computed before any is written`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.people)
        let context = store.context()
        let people = ["a", "b", "c"].map { context.make("Person", ["name": .text($0)]) }
        people[0][one: "mentor"] = people[1]
        people[1][one: "mentor"] = people[2]
        people[2][one: "mentor"] = people[0]
        try context.save()
        let person = store.model.entitiesByName["Person"]!
        try context.execute(
            BatchUpdateRequest(person, propertiesToUpdate: ["name": store.model.path("Person", "mentor", "name")])
        )
        #expect(people.texts("name") == ["b", "c", "a"])
    }

    @Test(arguments: StoreKind.allCases)
    func `to-one relationships are set by key and collections follow`(kind: StoreKind) throws {
        let (store, context, books) = try Self.context(kind)
        let author = try #require(books[0][one: "author"])
        #expect(author[many: "books"].count == 1)
        let key = Value.integer(author.managedObjectID.key)
        try context.execute(Self.request(["author": .literal(key)], where: Self.pages < 4))
        #expect(author[many: "books"].names == ["0", "1", "2", "3"])
        #expect(books[1][one: "author"] === author)
        try context.execute(Self.request(["author": .literal(.null)], where: Self.pages < 2))
        #expect(author[many: "books"].names == ["2", "3"])
        #expect(throws: ObjectGraphError.self) {
            try context.execute(Self.request(["author": .literal(4_711)]))
        }
        let reader = store.context()
        #expect(try reader.all("Book").filter { $0[one: "author"] == nil }.names == ["0", "1"])
    }

    @Test(arguments: StoreKind.allCases)
    func `invalid values are refused and nothing is changed`(kind: StoreKind) throws {
        let model = Fixtures.model(
            EntityDescription(
                "Thing",
                attributes: [
                    .init("small", .int8), .init("other", .int64, isOptional: true),
                    .init("real", .double, validation: .init(maximum: 10.0)),
                    .init("code", .int64),
                ],
                uniquenessConstraints: [["code"]]
            )
        )
        let store = try TestStore(kind, model)
        let context = store.context()
        for number in 0..<4 {
            context.make(
                "Thing",
                ["small": .integer(Int64(100 + number)), "real": 1.5, "code": .integer(Int64(number))]
            )
        }
        context.make("Thing", ["small": 1, "real": 1.5, "other": .integer(.max), "code": 9])
        try context.save()
        let (small, other) = (model.path("Thing", "small"), model.path("Thing", "other"))
        func failure(_ values: [String: QueryExpression]) -> (any Error)? {
            let request = BatchUpdateRequest(model.entitiesByName["Thing"]!, propertiesToUpdate: values)
            do {
                try context.execute(request)
                return nil
            } catch { return error }
        }
        func problems(_ error: (any Error)?) -> [ObjectGraphError.ValidationProblem] {
            if case ObjectGraphError.validation(let problems)? = error { problems } else { [] }
        }
        #expect(problems(failure(["small": .literal(.null)])).map(\.reason) == [.missingValue])
        #expect(problems(failure(["small": other])).filter { $0.reason == .missingValue }.count == 4)
        let tooLarge = problems(failure(["small": .arithmetic(.add, small, .literal(26))]))
        #expect(tooLarge.map(\.reason) == [.notRepresentable, .notRepresentable])
        #expect(problems(failure(["small": .literal(300)])).map(\.reason) == [.notRepresentable])
        #expect(problems(failure(["real": .literal(10.5)])).map(\.reason) == [.tooLarge])
        let realOfSmall = problems(failure(["real": .arithmetic(.subtract, small, .literal(92.5))]))
        #expect(realOfSmall.map(\.reason) == [.tooLarge])
        #expect(problems(failure(["real": .literal(.real(.nan))])).map(\.reason) == [.notRepresentable])
        #expect(failure(["other": .arithmetic(.add, other, .literal(1))]) as? QueryError == .arithmeticOverflow)
        for (name, value, reason) in [
            ("small", .literal("x"), .wrongType),
            ("other", model.path("Thing", "real"), .wrongType), ("none", .literal(1), .unknownProperty),
        ] as [(String, QueryExpression, ObjectGraphError.BatchProblem)] {
            guard case ObjectGraphError.invalidBatch("Thing", name, reason)? = failure([name: value]) else {
                Issue.record("\(name): \(String(describing: failure([name: value])))")
                continue
            }
        }
        guard case ObjectGraphError.notUnique(let conflicts)? = failure(["code": .literal(5)]) else {
            Issue.record("the values are not unique")
            return
        }
        #expect(conflicts.map(\.properties) == [["code"]])
        let reader = store.context()
        #expect(try reader.all("Thing").map { $0["small"] } == [100, 101, 102, 103, 1])
        #expect(try reader.all("Thing").map { $0["code"] } == [0, 1, 2, 3, 9])
    }

    @Test(arguments: StoreKind.allCases)
    func `aggregates and ordered inverses are refused`(kind: StoreKind) throws {
        let (store, context, books) = try Self.context(kind)
        books[0][many: "chapters"] = [context.make("Chapter")]
        try context.save()
        #expect(throws: QueryError.misplacedAggregate) { try context.execute(Self.request(["pages": .objectCount])) }
        let key = QueryExpression.literal(.integer(books[1].managedObjectID.key))
        let chapters = BatchUpdateRequest(store.model.entitiesByName["Chapter"]!, propertiesToUpdate: ["book": key])
        #expect(throws: ObjectGraphError.self) { try context.execute(chapters) }
    }

    @Test(arguments: StoreKind.allCases)
    func `subentities are changed unless they are excluded`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.animals)
        let context = store.context()
        for entity in ["Bird", "Penguin", "Cat"] { context.make(entity) }
        try context.save()
        let bird = store.model.entitiesByName["Bird"]!
        var request = BatchUpdateRequest(bird, propertiesToUpdate: ["name": .literal("a")])
        request.resultType = .count
        #expect(try context.execute(request) == .count(2))
        request.includesSubentities = false
        #expect(try context.execute(request) == .count(1))
        #expect(try store.context().all("Animal").texts("name") == ["a", "a", ""])
    }
}
