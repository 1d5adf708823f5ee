@testable import ObjectGraph
import Testing

/// Fetches whose results are faults.
@Suite struct FetchedFaultTests {
    /// An author that counts the calls of `awakeFromFetch()`.
    private final class Author: ManagedObject {
        var awakenings = 0

        override func awakeFromFetch() { awakenings += 1 }
    }

    private static func store(_ kind: StoreKind, count: Int = 100) throws -> TestStore {
        let store = try TestStore(kind, classes: ["Author": Author.self])
        let context = store.context()
        for number in 0..<count {
            let author = Author(entity: store.model.entitiesByName["Author"]!, insertInto: context)
            author["name"] = .text("author \(number)")
        }
        try context.save()
        store.counter.reset()
        return store
    }

    @Test(arguments: StoreKind.allCases)
    func `a fetch fills its objects by default`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let authors: [Author] = try context.fetch(context.request("Author"))
        #expect(!authors.contains { $0.isFault })
        #expect(authors.allSatisfy { $0.awakenings == 1 })
    }

    @Test(arguments: StoreKind.allCases)
    func `reading a fault with a fetched row fills it without a request`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        var request = context.request("Author")
        request.returnsObjectsAsFaults = true
        let authors: [Author] = try context.fetch(request)
        #expect(authors.allSatisfy { $0.isFault && $0.awakenings == 0 })
        #expect(authors[7]["name"] == "author 7")
        #expect(!authors[7].isFault)
        #expect(authors[7].awakenings == 1)
        #expect(authors[8].isFault)
        authors[8]["born"] = 1867
        #expect(authors[8]["name"] == "author 8")
        #expect(authors.map(\.awakenings).reduce(0, +) == 2)
        #expect(store.counter.reads == 1)
        try context.save()
        #expect(try store.context().all("Author")[8]["born"] == 1867)
    }

    @Test(arguments: StoreKind.allCases)
    func `without property values the first read fills all faults of the fetch`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        var request = context.request("Author", where: store.model.path("Author", "name") != "author 3")
        request.includesPropertyValues = false
        let authors: [Author] = try context.fetch(request)
        #expect(authors.count == 99)
        #expect(authors.allSatisfy { $0.isFault })
        #expect(store.counter.reads == 1)
        #expect(authors.texts("name").first == "author 0")
        #expect(authors.allSatisfy { !$0.isFault && $0.awakenings == 1 })
        #expect(store.counter.reads <= 4)
    }

    @Test(arguments: StoreKind.allCases)
    func `a fetched row past the staleness interval is read again`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let (context, strict) = (store.context(), store.context())
        strict.stalenessInterval = 0
        var request = context.request("Author")
        request.returnsObjectsAsFaults = true
        let authors: [Author] = try context.fetch(request)
        let strictAuthors: [Author] = try strict.fetch(request)
        let other = ManagedObjectContext(coordinator: try store.anotherCoordinator())
        for author in try other.all("Author") { author["name"] = "theirs" }
        try other.save()
        #expect(authors[0]["name"] == "author 0", "the default interval accepts every row")
        store.counter.reset()
        #expect(strictAuthors[0]["name"] == "theirs")
        #expect(strictAuthors.texts("name").allSatisfy { $0 == "theirs" })
        #expect(store.counter.reads <= 4, "objects fetched together are read together")
        context.stalenessInterval = 3600
        #expect(authors[1]["name"] == "author 1")
        context.refresh(authors[1], mergeChanges: false)
        #expect(authors[1]["name"] == "theirs", "a refreshed object has no row")
    }

    @Test(arguments: StoreKind.allCases)
    func `refreshAllObjects turns objects into faults that read the store's state`(kind: StoreKind) throws {
        let store = try Self.store(kind, count: 4)
        let context = store.context()
        let authors: [Author] = try context.fetch(context.request("Author"))
        authors[0]["born"] = 1
        let new = context.make("Tag", ["name": "new"])
        let other = ManagedObjectContext(coordinator: try store.anotherCoordinator())
        let theirs = try other.all("Author")
        theirs[0]["name"] = "theirs"
        theirs[1]["name"] = "theirs"
        other.delete(theirs[2])
        try other.save()
        context.refreshAllObjects()
        #expect(authors[1].isFault)
        #expect(authors[1]["name"] == "theirs")
        #expect(authors[0]["name"] == "theirs", "a changed object keeps only its changes")
        #expect(authors[0]["born"] == 1)
        #expect(!authors[2].isObjectDeleted, "the row is not read yet")
        #expect(authors[2]["name"] == .null)
        #expect(authors[2].isObjectDeleted)
        #expect(authors[3]["name"] == "author 3")
        #expect(new["name"] == "new")
        try context.save()
        #expect(try store.context().all("Author").map { $0["born"] } == [1, .null, .null])
    }

    @Test(arguments: StoreKind.allCases)
    func `faults whose row was deleted return the fetched values`(kind: StoreKind) throws {
        let store = try Self.store(kind, count: 3)
        let context = store.context()
        var request = context.request("Author")
        request.returnsObjectsAsFaults = true
        let authors: [Author] = try context.fetch(request)
        request.includesPropertyValues = false
        let second = store.context()
        let bare: [Author] = try second.fetch(request)
        let other = store.context()
        for author in try other.all("Author") { other.delete(author) }
        try other.save()
        _ = try context.count(request)
        #expect(authors.allSatisfy { $0.isObjectDeleted })
        #expect(authors.texts("name") == ["author 0", "author 1", "author 2"])
        #expect(bare.texts("name") == ["", "", ""])
    }
}
