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

    private func query(_ sort: QueryExpression) -> LiveResults.Query {
        let request = context.request("Book", sortedBy: [QuerySort(sort)])
        return LiveResults.Query(request) { [unowned context] in try context.fetch(request, as: ManagedObject.self) }
    }

    private var followers: ContextFollowers { context.following.followers }

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
}
