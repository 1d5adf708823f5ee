@testable import ObjectGraph
import Testing

/// Random changes by three writers: the context of the results, another context, and a context of another coordinator
/// on the same file.
@Suite struct LiveResultsRandomTests {
    @Test(
        arguments: SeededGenerator.seeds(
            4,
            after: [3_011_644, 3_903_849, 3_953_415, 4_009_894, 5_304_106, 7_164_306]
        ),
        [1, 4]
    )
    func `live results equal a fetch after some changes`(seed: UInt64, changes: Int) throws {
        var generator = SeededGenerator(seed: seed)
        let store = try TestStore(.sealed)
        let outsideCoordinator = try store.anotherCoordinator()
        let contexts = [store.context(), store.context(), ManagedObjectContext(coordinator: outsideCoordinator)]
        for context in contexts { context.mergePolicy = .mergeByPropertyObjectTrump }
        try Self.seed(contexts[0], &generator)
        let followed = try Self.requests(contexts[0]).map { try FollowedResults($0, in: contexts[0]) }
        for step in 0..<40 {
            let writer = Int.random(in: 0..<3, using: &generator)
            if writer == 2 { contexts[2].refreshAllObjects() }
            for _ in 0..<Int.random(in: 1...4, using: &generator) { try Self.change(contexts[writer], &generator) }
            switch writer {
            case 0 where generator.chance(50): contexts[0].processPendingChanges()
            case 0 where generator.chance(15): contexts[0].rollback()
            default:
                try Self.save(contexts[writer])
                if writer == 2 { store.coordinator.announce(.unknown(.others)) }
            }
            guard step % changes == changes - 1 else { continue }
            contexts[0].processPendingChanges()
            for (index, results) in followed.enumerated() {
                try results.expectCurrent("\(generator) step \(step) request \(index)")
            }
        }
        try Self.save(contexts[0])
        #expect(try store.problems() == [])
    }

    private static func requests(_ context: ManagedObjectContext) -> [FetchRequest] {
        let (book, author) = (context.model.entitiesByName["Book"]!, context.model.entitiesByName["Author"]!)
        let pages = QueryExpression.path(book.propertiesByName["pages"]!)
        let name = QueryExpression.path(book.propertiesByName["name"]!)
        let writer = QueryExpression.path(book.propertiesByName["author"]!, author.propertiesByName["name"]!)
        let books = CollectionSource.members(from: 0, [author.propertiesByName["books"]!])
        var limited = context.request("Book", where: pages > 3, sortedBy: [QuerySort(name, ascending: false)])
        limited.limit = 4
        var windowed = context.request("Book", sortedBy: [QuerySort(pages)])
        windowed.offset = 2
        windowed.limit = 3
        return [
            context.request("Book"),
            context.request("Book", where: pages < 6, sortedBy: [QuerySort(name), QuerySort(pages)]),
            limited,
            windowed,
            context.request("Book", where: writer != .null, sortedBy: [QuerySort(writer), QuerySort(name)]),
            context.request("Author", sortedBy: [QuerySort(.count(books, variable: 1), ascending: false)]),
        ]
    }

    private static func seed(_ context: ManagedObjectContext, _ generator: inout SeededGenerator) throws {
        for number in 0..<4 { context.make("Author", ["name": .text("author \(number)")]) }
        for _ in 0..<12 { try change(context, &generator) }
        try context.save()
    }

    private static func change(_ context: ManagedObjectContext, _ generator: inout SeededGenerator) throws {
        let books = try context.all("Book")
        let authors = try context.all("Author")
        let number = Int64.random(in: 0..<10, using: &generator)
        guard let book = generator.pick(books), !generator.chance(25) else {
            let book = context.make("Book", ["name": .text("book \(number % 4)"), "pages": .integer(number)])
            book[one: "author"] = generator.pick(authors)
            return
        }
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: context.delete(book)
        case 1: book["name"] = .text("book \(number % 4)")
        case 2: book["pages"] = .integer(number)
        case 3: book["price"] = .real(Double(number))
        case 4: book[one: "author"] = generator.chance(30) ? nil : generator.pick(authors)
        case 5: generator.pick(authors)?["name"] = .text("author \(number)")
        default:
            if let author = generator.pick(authors) { author[many: "books"] = generator.chance(50) ? [book] : [] }
        }
    }

    /// Saves, or drops the changes if another context has deleted their objects.
    private static func save(_ context: ManagedObjectContext) throws {
        do {
            try context.save()
        } catch is ObjectGraphError {
            context.rollback()
        }
    }
}
