import Foundation
@testable import ObjectGraph
import Testing

/// The list of the results that follow a context.
@Suite struct ContextFollowersTests {
    private let store: TestStore
    private let context: ManagedObjectContext
    private let name: QueryExpression
    private let pages: QueryExpression

    init() throws {
        store = try TestStore(.sealed)
        context = store.context()
        let book = store.model.entitiesByName["Book"]!
        name = .path(book.propertiesByName["name"]!)
        pages = .path(book.propertiesByName["pages"]!)
        context.make("Book", ["name": "book", "pages": 100])
        try context.save()
    }

    private func query(_ sort: QueryExpression, where condition: QueryExpression? = nil) -> LiveResults.Query {
        let request = context.request("Book", where: condition, sortedBy: [QuerySort(sort)])
        return LiveResults.Query(request) { [unowned context] in try context.fetch(request, as: ManagedObject.self) }
    }

    private var followers: ContextFollowers { context.changeCollector.followers }

    @Test func `a query that is replaced regroups one follower`() throws {
        let all = (0..<1000).map { _ in LiveResults(query(name), in: context) }
        let before = followers.examinations
        for results in all {
            results.reportsModifications = true
            results.setQuery(query(pages))
            results.reportsModifications = false
        }
        #expect(followers.examinations - before <= 3 * all.count)
        // The groups are those of the new queries.
        var updates = 0
        for results in all { results.onUpdate = { _ in updates += 1 } }
        let book = try context.one("Book")
        book["name"] = "title"
        context.processPendingChanges()
        #expect(updates == 0)
        book["pages"] = 200
        context.processPendingChanges()
        #expect(updates == all.count)
    }

    @Test func `root entities have followers until their last follower has others`() throws {
        let author = store.model.entitiesByName["Author"]!
        let book = store.model.entitiesByName["Book"]!
        let path = QueryExpression.path(book.propertiesByName["author"]!, author.propertiesByName["name"]!)
        let all = (0..<2).map { _ in LiveResults(query(path), in: context) }
        for results in all {
            #expect(followers.roots == [book.index, author.index])
            results.setQuery(query(name))
        }
        #expect(followers.roots == [book.index])
    }

    @Test func `results that are made and released leave few entries`() throws {
        let kept = (0..<3).map { _ in LiveResults(query(name), in: context) }
        let before = followers.examinations
        for _ in 0..<2000 {
            _ = LiveResults(query(name), in: context)
            try #require(followers.count <= 2 * kept.count + ContextFollowers.smallCount + 1)
        }
        #expect(followers.examinations - before <= 4 * 2000, "looking for released results costs O(1) for each new one")
        #expect(kept.count == 3)
    }

    @Test func `a change removes the released results that it concerns`() throws {
        var all = (0..<10).map { _ in LiveResults(query(name), in: context) }
        let book = try context.one("Book")
        all.removeLast(4)
        book["name"] = "title"
        context.processPendingChanges()
        #expect(followers.count == all.count)
    }

    @Test func `changes that concern no results cost one comparison for a hundred equal queries`() throws {
        let changed = try context.one("Book")
        for name in ["a", "c"] { context.make("Book", ["name": .text(name)]) }
        try context.save()
        let all = (0..<100).map { _ in LiveResults(query(name), in: context) }
        var updates = 0
        for results in all { results.onUpdate = { _ in updates += 1 } }
        let before = followers.comparisons
        for price in 1...10 {
            changed["price"] = .real(Double(price))
            try context.save()
        }
        // A save delivers the unsaved change, and perhaps the commit.
        #expect((10...20).contains(followers.comparisons - before))
        #expect(updates == 0)
        changed["name"] = "title"
        try context.save()
        #expect(updates == 100)
        #expect(all.allSatisfy { $0.entries.last?.object === changed })
    }

    @Test func `results are updated in the order of their creation, each once for a change of several slots`() throws {
        let queries = [query(pages), query(name), query(pages), query(name, where: pages > 50), query(name)]
        let all = queries.map { LiveResults($0, in: context) }
        var order: [Int] = []
        for (number, results) in all.enumerated() { results.onUpdate = { _ in order.append(number) } }
        let changed = try context.one("Book")
        changed["pages"] = 5000
        changed["name"] = "title"
        context.processPendingChanges()
        #expect(order == [0, 1, 2, 3, 4])
    }

    @Test func `results that report modifications from now on are concerned by all slots`() throws {
        let changed = try context.one("Book")
        for name in ["a", "another"] { context.make("Book", ["name": .text(name)]) }
        let results = LiveResults(query(name), in: context)
        var modified: [[Int]] = []
        results.onUpdate = { modified.append($0.modifications.map(\.position)) }
        changed["price"] = .real(1)
        context.processPendingChanges()
        results.reportsModifications = true
        changed["price"] = .real(2)
        context.processPendingChanges()
        results.reportsModifications = false
        changed["price"] = .real(3)
        context.processPendingChanges()
        #expect(modified == [[2]])
    }

    @Test func `released results are forgotten, although no change concerns them`() throws {
        var all = (0..<10).map { _ in LiveResults(query(name), in: context) }
        all.removeLast(all.count - 1)
        let changed = try context.one("Book")
        for price in 1...20 {
            changed["price"] = .real(Double(price))
            try context.save()
        }
        #expect(followers.count == 1)
        all = []
        changed["price"] = .real(30)
        try context.save()
        #expect(!context.changeCollector.isActive)
    }

    @Test func `released results are no longer followed`() throws {
        var followed: FollowedResults? = try FollowedResults(context.request("Book"), in: context)
        weak let results = followed?.results
        followed = nil
        #expect(results == nil)
        context.make("Book", ["name": "new", "pages": 400])
        try context.save()
        #expect(!context.changeCollector.isActive)
    }
}
