import Foundation
import ObjectGraph
import TestSupport
import Testing

/// Random batch requests, executed by both stores: both must succeed or fail alike, with equal results.
///
/// The seeds are new in each run; `SEED=N swift test --filter BatchAgreementTests` repeats one.
@Suite struct BatchAgreementTests {
    private static let model = Fixtures.library
    private static let seeds = SeededGenerator.seeds(12)

    /// Inserts a random library that is the same for the same seed.
    private static func fill(_ context: ManagedObjectContext, _ random: inout SeededGenerator) throws {
        let authors = (0..<6).map {
            context.make("Author", ["name": .text("a\($0)"), "born": .integer(Int64($0 % 3))])
        }
        let tags = (0..<3).map { context.make("Tag", ["name": .text("t\($0)")]) }
        for number in 0..<20 {
            let book = context.make("Book", ["name": .text("b\(number)"), "pages": .integer(Int64(number % 7))])
            if random.chance(50) { book["price"] = .real(Double(number) / 4) }
            if random.chance(80) { book[one: "author"] = random.pick(authors) }
            book[many: "tags"] = tags.filter { _ in random.chance(40) }
            if random.chance(30) { book[one: "cover"] = context.make("Cover", ["name": .text("v\(number)")]) }
            book[many: "chapters"] = (0..<Int.random(in: 0..<3, using: &random)).map {
                context.make("Chapter", ["name": .text("c\(number).\($0)")])
            }
        }
        for author in authors { author[one: "favourite"] = try random.pick(context.all("Book")) }
        try context.save()
    }

    private static func condition(_ random: inout SeededGenerator) -> QueryExpression {
        let pages = model.path("Book", "pages")
        let limit = Value.integer(Int64.random(in: 0..<7, using: &random))
        let tags = model.properties("Book", ["tags"])
        return random.pick([
            pages > limit, pages < limit, pages == limit, model.path("Book", "author", "born") == 1,
            .not(model.path("Book", "price") != .null),
            .quantified(.any, .members(from: 0, tags), variable: 1, condition: model.path(1, "Tag", "name") == "t1"),
            .and([pages < limit, model.path("Book", "cover") != .null]),
        ])!
    }

    private static func assignments(_ random: inout SeededGenerator) -> [String: QueryExpression] {
        let pages = model.path("Book", "pages")
        let all: [(String, QueryExpression)] = [
            ("pages", .arithmetic(.add, pages, .literal(1))),
            ("pages", model.path("Book", "author", "born")),
            ("pages", .arithmetic(.multiply, pages, .literal(.integer(.max / 3)))),
            ("price", pages), ("price", .literal(.null)),
            (
                "price",
                .count(.members(from: 0, model.properties("Book", ["tags"])), variable: 1, condition: .bool(true))
            ),
            ("author", .literal(.null)), ("author", model.path("Book", "author")),
            ("translator", model.path("Book", "author")),
        ]
        return Dictionary(all.filter { _ in random.chance(30) }, uniquingKeysWith: { $1 })
    }

    /// Executes a random request and returns a description of its outcome.
    private static func step(_ context: ManagedObjectContext, _ random: inout SeededGenerator) -> String {
        do {
            let result: BatchResult
            if random.chance(75) {
                var request = BatchUpdateRequest(
                    model.entitiesByName["Book"]!,
                    propertiesToUpdate: assignments(&random),
                    predicate: condition(&random)
                )
                request.resultType = .count
                result = try context.execute(request)
            } else {
                let entity = random.pick(["Book", "Book", "Author", "Tag", "Cover"])!
                let names = model.path(entity, "name")
                let predicate: QueryExpression =
                    entity == "Book"
                    ? condition(&random) : .function(.endsWith, [names, .literal(random.pick(["0", "1", "2"])!)])
                var request = BatchDeleteRequest(model.entitiesByName[entity]!, predicate: predicate)
                request.resultType = .count
                result = try context.execute(request)
            }
            return "\(result)"
        } catch {
            return "\(error)"
        }
    }

    /// The contents of the store without keys, which differ between stores.
    private static func content(_ context: ManagedObjectContext) throws -> [[Value]] {
        let columns: [(String, [QueryExpression])] = [
            (
                "Book",
                [
                    model.path("Book", "pages"), model.path("Book", "price"), model.path("Book", "author", "name"),
                    model.path("Book", "translator", "name"), model.path("Book", "cover", "name"),
                    .count(.members(from: 0, model.properties("Book", ["tags"])), variable: 1, condition: .bool(true)),
                    .count(
                        .members(from: 0, model.properties("Book", ["chapters"])),
                        variable: 1,
                        condition: .bool(true)
                    ),
                ]
            ),
            ("Author", [model.path("Author", "favourite", "name")]),
            ("Chapter", [model.path("Chapter", "book", "name")]),
            ("Tag", []), ("Cover", [model.path("Cover", "book", "name")]),
        ]
        return try columns.flatMap { entity, expressions in
            let name = model.path(entity, "name")
            var request = DictionaryFetchRequest(
                model.entitiesByName[entity]!,
                ([name] + expressions).enumerated().map { ExpressionDescription("\($0)", $1) }
            )
            request.sort = [QuerySort(name)]
            return try context.fetchDictionaries(request).map { Array($0.values) }
        }
    }

    @Test(arguments: seeds)
    func `both stores agree, and registered objects follow`(seed: UInt64) throws {
        let stores = try StoreKind.allCases.map { try TestStore($0) }
        var outcomes: [[String]] = []
        var contents: [[[[Value]]]] = []
        for store in stores {
            var random = SeededGenerator(seed: seed)
            let context = store.context()
            try Self.fill(context, &random)
            let books = try context.all("Book")
            for book in books { _ = (book[many: "tags"], book[many: "chapters"], book[one: "author"]) }
            var log: [String] = []
            var states: [[[Value]]] = []
            for _ in 0..<25 {
                log.append(Self.step(context, &random))
                states.append(try Self.content(context))
                #expect(try store.problems() == [], "seed \(seed) after \(log)")
                let fresh = store.context()
                for book in books {
                    let other = try fresh.existingObject(with: book.managedObjectID) as? ManagedObject
                    #expect(book.isObjectDeleted == (other == nil), "seed \(seed) after \(log)")
                    guard let other, !book.isObjectDeleted else { continue }
                    let isSame =
                        book["pages"] == other["pages"] && book["price"] == other["price"]
                        && book[one: "author"]?.text("name") == other[one: "author"]?.text("name")
                        && book[many: "tags"].names == other[many: "tags"].names
                    #expect(isSame, "seed \(seed), book \(book.text("name")) after \(log)")
                }
            }
            outcomes.append(log)
            contents.append(states)
        }
        #expect(outcomes[0] == outcomes[1], "seed \(seed)")
        let difference = zip(contents[0], contents[1]).enumerated().first { $1.0 != $1.1 }
        #expect(difference == nil, "seed \(seed), after \(outcomes[0].prefix((difference?.offset ?? 0) + 1))")
    }
}
