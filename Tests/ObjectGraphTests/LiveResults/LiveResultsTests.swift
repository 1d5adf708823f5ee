@testable import ObjectGraph
import Testing

@Suite struct LiveResultsTests {
    private let store: TestStore
    private let context: ManagedObjectContext
    private let pages: QueryExpression
    private let name: QueryExpression

    init() throws {
        store = try TestStore(.sealed)
        context = store.context()
        let book = store.model.entitiesByName["Book"]!
        pages = .path(book.propertiesByName["pages"]!)
        name = .path(book.propertiesByName["name"]!)
        for number in 0..<10 {
            context.make("Book", ["name": .text("book \(number)"), "pages": .integer(Int64(number * 100))])
        }
        try context.save()
    }

    /// The books with at least 300 pages, by name.
    private var longBooks: FetchRequest { context.request("Book", where: pages > 299, sortedBy: [QuerySort(name)]) }

    private func book(_ number: Int, in context: ManagedObjectContext) throws -> ManagedObject {
        try context.one("Book", where: name == .text("book \(number)"))
    }

    @Test func `a save that changes nothing shown costs no query`() throws {
        let followed = try FollowedResults(longBooks, in: context)
        let other = store.context()
        let (short, long) = (try book(1, in: other), try book(5, in: other))
        short["name"] = "renamed"
        long["price"] = .real(5)
        other.make("Author", ["name": "author"])
        try other.save()
        store.counter.reset()
        context.processPendingChanges()
        #expect(store.counter.reads == 0)
        #expect(followed.updates.map(\.changes) == [IndexChanges()])
        #expect(followed.updates.first?.modifications.map(\.position) == [2])
        try followed.expectCurrent("after a save of another context")
    }

    @Test func `objects enter, leave and move without a query`() throws {
        let followed = try FollowedResults(longBooks, in: context)
        let other = store.context()
        try book(1, in: other)["pages"] = 1000
        try book(4, in: other)["pages"] = 10
        try book(3, in: other)["name"] = "book 99"
        other.make("Book", ["name": "a book", "pages": 700])
        other.delete(try book(6, in: other))
        try other.save()
        store.counter.reset()
        context.processPendingChanges()
        #expect(store.counter.reads == 0)
        #expect(
            followed.objects.texts("name") == ["a book", "book 1", "book 5", "book 7", "book 8", "book 9", "book 99"]
        )
        try followed.expectCurrent("after a save of another context")
    }

    // followed context       | another context
    //                        | saves a book that is not registered
    //                        | changes it by a request, which announces no row
    // processes both         |
    @Test(arguments: ["insertion", "update"], ["results", "others"])
    func `an object that a request changes after a save has its last values`(first: String, belongs: String) throws {
        let request = context.request("Book", where: pages == 7, sortedBy: [QuerySort(name)])
        let followed = try FollowedResults(request, in: context)
        let other = store.context()
        let (saved, final): (Int64, Int64) = belongs == "results" ? (5, 7) : (7, 5)
        let new = first == "insertion" ? other.make("Book", ["name": "a book"]) : try book(9, in: other)
        new["pages"] = .integer(saved)
        try other.save()
        let update = BatchUpdateRequest(
            store.model.entitiesByName["Book"]!,
            propertiesToUpdate: ["pages": .literal(.integer(final))],
            predicate: pages == .integer(saved)
        )
        _ = try other.execute(update)
        context.processPendingChanges()
        #expect(followed.objects.count == (belongs == "results" ? 1 : 0))
        #expect(try context.one("Book", where: pages == .integer(final))["pages"] == .integer(final))
        try followed.expectCurrent("after both")
    }

    // parent              | followed child       | another child
    //                     | shows the books      |
    //                     |                      | changes books, saves to the parent
    //                     | processes            |
    @Test func `a child context follows the saves of another child of its parent`() throws {
        let (child, other) = (ManagedObjectContext(parent: context), ManagedObjectContext(parent: context))
        let followed = try FollowedResults(longBooks, in: child)
        try book(1, in: other)["pages"] = 1000
        try book(4, in: other)["pages"] = 10
        other.make("Book", ["name": "a book", "pages": 700])
        try other.save()
        child.processPendingChanges()
        #expect(followed.objects.texts("name").prefix(3) == ["a book", "book 1", "book 3"])
        try followed.expectCurrent("after a save of another child")
        context.rollback()
        child.processPendingChanges()
        #expect(followed.objects.texts("name").prefix(2) == ["book 3", "book 4"])
        try followed.expectCurrent("after the parent has dropped its changes")
    }

    // followed context          | another context
    // is pinned, shows books    |
    //                           | is pinned
    //                           | changes books, saves, is pinned again
    // takes the state of the other one |
    @Test func `results follow a context that is pinned to another state`() throws {
        try context.setQueryGeneration(from: .current)
        let followed = try FollowedResults(longBooks, in: context)
        let other = store.context()
        try book(1, in: other)["pages"] = 1000
        other.delete(try book(5, in: other))
        try other.save()
        context.processPendingChanges()
        #expect(followed.objects.texts("name").first == "book 3")
        try other.setQueryGeneration(from: .current)
        try context.setQueryGeneration(from: other.queryGenerationToken)
        context.processPendingChanges()
        #expect(followed.objects.texts("name").prefix(2) == ["book 1", "book 3"])
        try followed.expectCurrent("in the later state")
    }

    // followed context          | another context
    // renames the book          |
    //                           | makes it long, saves
    // saves, refreshes or reverts |
    @Test(arguments: ["save", "refresh", "rollback"])
    func `an object with unsaved changes enters when it takes the values of another writer`(end: String) throws {
        context.mergePolicy = .mergeByPropertyObjectTrump
        let followed = try FollowedResults(longBooks, in: context)
        let short = try book(1, in: context)
        short["name"] = "renamed"
        context.processPendingChanges()
        let other = store.context()
        try book(1, in: other)["pages"] = 1000
        try other.save()
        context.processPendingChanges()
        #expect(!followed.objects.contains { $0 === short })
        switch end {
        case "save": try context.save()
        case "refresh": context.refresh(short, mergeChanges: true)
        default: context.rollback()
        }
        context.processPendingChanges()
        #expect(followed.objects.contains { $0 === short })
        try followed.expectCurrent("after the unsaved change has ended")
    }

    // followed context          | another context
    //                           | makes the book long, saves
    // renames the book, saves   |
    @Test func `an object enters that takes the values of another writer in the save of its first change`() throws {
        context.mergePolicy = .mergeByPropertyObjectTrump
        let followed = try FollowedResults(longBooks, in: context)
        let short = try book(1, in: context)
        let outside = ManagedObjectContext(coordinator: try store.anotherCoordinator())
        try book(1, in: outside)["pages"] = 1000
        try outside.save()
        short["name"] = "renamed"
        try context.save()
        context.processPendingChanges()
        #expect(followed.objects.contains { $0 === short })
        try followed.expectCurrent("after the save")
    }

    // followed context          | another context
    // renames the book          |
    //                           | makes it long, saves
    // merges; follows; reverts  |
    @Test func `an object enters by the rollback of a conflict that is older than the results`() throws {
        let short = try book(1, in: context)
        short["name"] = "renamed"
        let other = store.context()
        try book(1, in: other)["pages"] = 1000
        try other.save()
        context.processPendingChanges()
        let followed = try FollowedResults(longBooks, in: context)
        context.rollback()
        #expect(followed.objects.contains { $0 === short })
        try followed.expectCurrent("after the rollback")
    }

    @Test func `a query is replaced after the changes of the previous one`() throws {
        let followed = try FollowedResults(context.request("Book"), in: context)
        context.make("Book", ["name": "new", "pages": 500])
        let other = store.context()
        other.make("Book", ["name": "other", "pages": 600])
        try other.save()
        let request = longBooks
        followed.results.setQuery(
            LiveResults.Query(request) { [context] in
                try context.fetch(request, as: ManagedObject.self)
            }
        )
        try followed.expectCurrent("after the change of the query")
    }

    @Test func `a value that cannot be read elsewhere does not stop the results`() throws {
        let followed = try FollowedResults(longBooks, in: context)
        let gone = context.make("Author", ["name": "author"])
        try context.save()
        context.refresh(gone, mergeChanges: false)
        let other = store.context()
        other.delete(try other.one("Author"))
        try other.save()
        _ = gone["name"]
        try book(1, in: other)["pages"] = 1000
        try other.save()
        try? context.fetch(longBooks, as: ManagedObject.self).forEach { _ in }
        context.processPendingChanges()
        #expect(followed.results.error == nil)
        #expect(followed.objects.count == 8)
    }

    @Test func `owners are modified when others move their members`() throws {
        let (first, second) = (context.make("Author", ["name": "1"]), context.make("Author", ["name": "2"]))
        let book = try book(1, in: context)
        book[one: "author"] = first
        try context.save()
        let name = QueryExpression.path(store.model.entitiesByName["Author"]!.propertiesByName["name"]!)
        let followed = try FollowedResults(context.request("Author", sortedBy: [QuerySort(name)]), in: context)
        let other = store.context()
        let moved = try self.book(1, in: other)
        moved[one: "author"] = try other.all("Author").first { $0["name"] == second["name"] }
        try other.save()
        context.processPendingChanges()
        #expect(followed.updates.last?.modifications.map(\.position) == [0, 1])
        other.delete(moved)
        try other.save()
        context.processPendingChanges()
        #expect(followed.updates.last?.modifications.map(\.position) == [1])
    }

    @Test func `unsaved changes are shown when they are processed`() throws {
        let followed = try FollowedResults(longBooks, in: context)
        let first = try book(3, in: context)
        first["name"] = "zzz"
        let new = context.make("Book", ["name": "middle", "pages": 500])
        context.processPendingChanges()
        try followed.expectCurrent("after a change and an insertion")
        first["pages"] = 1
        new["name"] = "again"
        context.processPendingChanges()
        try followed.expectCurrent("after further changes of the same objects")
        #expect(followed.updates.count == 2)
        try context.save()
        #expect(followed.updates.count == 3)
        #expect(followed.updates[2].changes.isEmpty && followed.updates[2].modifications.isEmpty)
        #expect(followed.updates[2].reidentified.count == 1, "the save gives the new object its permanent identifier")
        try followed.expectCurrent("after the save")
        context.delete(new)
        context.processPendingChanges()
        try followed.expectCurrent("after a deletion")
        context.rollback()
        try followed.expectCurrent("after a rollback")
        #expect(followed.objects.contains { $0 === new })
        context.make("Book", ["name": "dropped", "pages": 500])
        context.processPendingChanges()
        context.rollback()
        try followed.expectCurrent("after a rollback of an insertion")
    }

    @Test func `the store is queried if objects leave a full window`() throws {
        var request = longBooks
        request.limit = 3
        let followed = try FollowedResults(request, in: context)
        context.make("Book", ["name": "a", "pages": 999])
        store.counter.reset()
        context.processPendingChanges()
        #expect(store.counter.reads == 0)
        try followed.expectCurrent("after an insertion into the window")
        try context.save()
        try book(3, in: context)["pages"] = 0
        try context.save()
        #expect(followed.results.fetchCount == 2)
        try followed.expectCurrent("after an object has left the window")
    }

    @Test func `conditions over relationships follow the related objects`() throws {
        let author = store.model.entitiesByName["Author"]!
        let book = store.model.entitiesByName["Book"]!
        let path = QueryExpression.path(book.propertiesByName["author"]!, author.propertiesByName["name"]!)
        let followed = try FollowedResults(context.request("Book", where: path == "Sei"), in: context)
        #expect(followed.objects.isEmpty)
        let other = store.context()
        let writer = other.make("Author", ["name": "Murasaki"])
        try self.book(2, in: other)[one: "author"] = writer
        try other.save()
        context.processPendingChanges()
        try followed.expectCurrent("after the relationship was set")
        writer["name"] = "Sei"
        try other.save()
        context.processPendingChanges()
        #expect(followed.objects.texts("name") == ["book 2"])
        try followed.expectCurrent("after the destination has changed")
    }

    @Test func `batch requests and erasure are followed`() throws {
        let followed = try FollowedResults(longBooks, in: context)
        let other = store.context()
        let book = store.model.entitiesByName["Book"]!
        try other.execute(BatchDeleteRequest(book, predicate: pages > 700))
        context.processPendingChanges()
        try followed.expectCurrent("after a batch deletion")
        let update = BatchUpdateRequest(book, propertiesToUpdate: ["pages": .literal(.integer(400))])
        try context.execute(update)
        try followed.expectCurrent("after a batch update of the same context")
        #expect(followed.objects.count == 8)
        try store.coordinator.eraseStores()
        context.processPendingChanges()
        #expect(followed.objects.isEmpty && followed.applied.isEmpty)
    }

    @Test func `changes of another coordinator are followed`() throws {
        let followed = try FollowedResults(longBooks, in: context)
        let outside = ManagedObjectContext(coordinator: try store.anotherCoordinator())
        let (changed, deleted) = (try book(4, in: outside), try book(5, in: outside))
        changed["name"] = "a"
        outside.delete(deleted)
        let inserted = outside.make("Book", ["name": "b", "pages": 300])
        try outside.save()

        let entity = store.model.entitiesByName["Book"]!
        var commit = Commit(.others)
        commit.add(.init(.updated), of: changed.managedObjectID.key, entity: entity)
        commit.add(.init(.deleted), of: deleted.managedObjectID.key, entity: entity)
        commit.add(.init(.inserted), of: inserted.managedObjectID.key, entity: entity)
        store.coordinator.announce(commit)
        context.processPendingChanges()
        try followed.expectCurrent("after known changes")
        #expect(followed.objects.texts("name").prefix(3) == ["a", "b", "book 3"])
        #expect(followed.results.fetchCount == 1)

        changed["pages"] = 0
        outside.make("Book", ["name": "c", "pages": 300])
        try outside.save()
        store.coordinator.announce(.unknown(.others))
        context.processPendingChanges()
        #expect(
            followed.objects.texts("name").prefix(3) == ["b", "book 3", "book 6"]
                || followed.objects.texts("name").prefix(3) == ["b", "c", "book 3"]
        )
        try followed.expectCurrent("after unknown changes")
    }

    @Test func `an error keeps the results, and the next change repeats the fetch`() throws {
        struct Unavailable: Error {}
        let followed = try FollowedResults(longBooks, in: context)
        let shown = followed.objects
        var fails = true
        let request = longBooks
        let context = context
        followed.results.setQuery(
            LiveResults.Query(request) {
                if fails { throw Unavailable() }
                return try context.fetch(request, as: ManagedObject.self)
            }
        )
        #expect(followed.results.error is Unavailable)
        #expect(followed.objects === shown)
        fails = false
        context.make("Book", ["name": "new", "pages": 400])
        context.processPendingChanges()
        try followed.expectCurrent("after the next change")
    }

    @Test func `a change of one object in many costs few comparisons and no query`() throws {
        let all = context.request("Book", sortedBy: [QuerySort(name)])
        for number in 0..<5000 { context.make("Book", ["name": .text("title \(number)")]) }
        try context.save()
        let followed = try FollowedResults(all, in: context)
        try book(3, in: context)["name"] = "title 25000"
        store.counter.reset()
        context.processPendingChanges()
        #expect(store.counter.reads == 0)
        #expect(followed.updates.last?.changes.moves.count == 1)
        var comparisons = 0
        _ = followed.results.entries.partitioningIndex { _ in
            comparisons += 1
            return false
        }
        #expect(comparisons <= 13, "log2 of 5010")
        try followed.expectCurrent("after a move")
    }

    // MARK: The saved state

    private var savedLongBooks: FetchRequest {
        var request = longBooks
        request.includesPendingChanges = false
        return request
    }

    @Test(arguments: [nil, 20])
    func `a result of the saved state follows the save of changes that were delivered before`(limit: Int?) throws {
        var request = savedLongBooks
        request.limit = limit
        let followed = try FollowedResults(request, in: context)
        try book(1, in: context)["pages"] = 1000
        try book(5, in: context)["pages"] = 1
        context.processPendingChanges()
        #expect(followed.objects.texts("name") == (3...9).map { "book \($0)" })
        try context.save()
        #expect(followed.objects.texts("name") == [1, 3, 4, 6, 7, 8, 9].map { "book \($0)" })
        try followed.expectCurrent("after the save")
    }

    @Test func `a result of the saved state follows a save that another result calls`() throws {
        let followed = try FollowedResults(savedLongBooks, in: context)
        let other = LiveResults(
            LiveResults.Query(longBooks) { [context, longBooks] in try context.fetch(longBooks) as [ManagedObject] },
            in: context
        )
        var saves = 0
        other.onUpdate = { [context] _ in
            guard saves == 0 else { return }
            saves += 1
            do { try context.save() } catch { Issue.record(error) }
        }
        try book(1, in: context)["pages"] = 1000
        context.processPendingChanges()
        #expect(saves == 1)
        #expect(followed.objects.texts("name").first == "book 1")
        try followed.expectCurrent("after the save")
    }

    @Test func `a result of the saved state has objects until their deletion is saved`() throws {
        let followed = try FollowedResults(savedLongBooks, in: context)
        context.delete(try book(5, in: context))
        context.processPendingChanges()
        #expect(followed.objects.texts("name") == (3...9).map { "book \($0)" })
        try followed.expectCurrent("before the save")
        try context.save()
        #expect(followed.objects.texts("name") == [3, 4, 6, 7, 8, 9].map { "book \($0)" })
        try followed.expectCurrent("after the save")
    }
}
