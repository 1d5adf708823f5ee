@testable import ObjectGraph
import SealedStore
import Testing

@Suite("Rows that the store changes beside those of a save") struct ClearedRowTests {
    /// The version of the row of an object in the store.
    private static func version(_ object: ManagedObject, _ store: TestStore) throws -> UInt32? {
        let reader = store.context()
        let stored = try reader.counterpart(of: object)
        return withExtendedLifetime(stored) { stored.state.pointee.row?.version }
    }

    // first                 | second                | third
    //                       | gives the cover to a  |
    //                       |                       | reads all
    // gives the cover to b, |                       |
    // without knowing a's   |                       |
    @Test(arguments: [false, true], [false, true])
    func `reach all contexts when a destination is taken from another object`(
        hasChanges: Bool,
        isSameCoordinator: Bool
    ) throws {
        let store = try TestStore(.sealed)
        let first = store.context()
        let second =
            isSameCoordinator ? store.context() : ManagedObjectContext(coordinator: try store.anotherCoordinator())
        let third = store.context()
        let loser = first.make("Book", ["name": "a"])
        let winner = first.make("Book", ["name": "b"])
        let cover = first.make("Cover", ["name": "cover"])
        let tag = first.make("Tag")
        try first.save()
        if hasChanges { loser.addMember(tag, forRelationship: "tags") }
        try second.counterpart(of: loser)[one: "cover"] = try second.counterpart(of: cover)
        try second.save()
        let (thirdLoser, thirdCover) = (try third.counterpart(of: loser), try third.counterpart(of: cover))
        #expect(thirdLoser[one: "cover"] === thirdCover)
        let version = try #require(try Self.version(loser, store))
        _ = try first.all("Book") + first.all("Cover")
        winner[one: "cover"] = cover
        try first.save()
        _ = try third.count(third.request("Cover"))
        #expect(thirdLoser[one: "cover"] == nil)
        #expect(thirdCover[one: "book"]?["name"] == "b")
        #expect(loser[one: "cover"] == nil)
        let stored = try #require(try Self.version(loser, store))
        #expect(stored > version, "a row whose content has changed has another version")
        // No context conflicts with the store.
        for context in [first, third] {
            _ = try context.count(context.request("Book"))
            try context.counterpart(of: loser)["name"] = "renamed"
            try context.save()
        }
        #expect(try store.problems() == [])
    }

    @Test func `have a later version in all contexts after a deletion has cleared references`() throws {
        let store = try TestStore(.sealed)
        let (context, other) = (store.context(), store.context())
        let author = context.make("Author", ["name": "a"])
        let book = context.make("Book", ["name": "b"])
        author[one: "favourite"] = book
        try context.save()
        let theirs = try other.counterpart(of: author)
        #expect(theirs[one: "favourite"] != nil)
        let version = try #require(try Self.version(author, store))
        context.delete(book)
        try context.save()
        #expect(try #require(try Self.version(author, store)) > version)
        #expect(author[one: "favourite"] == nil)
        author["name"] = "mine"
        try context.save()
        _ = try other.count(other.request("Author"))
        #expect(theirs["name"] == "mine")
        #expect(theirs[one: "favourite"] == nil)
        theirs["name"] = "theirs"
        try other.save()
        #expect(try store.context().one("Author")["name"] == "theirs")
    }

    @Test func `have a later version in all contexts after a batch request has deleted their destinations`() throws {
        let store = try TestStore(.sealed)
        let (context, other) = (store.context(), store.context())
        let author = context.make("Author", ["name": "a"])
        author[one: "favourite"] = context.make("Book", ["name": "b"])
        try context.save()
        let theirs = try other.counterpart(of: author)
        _ = theirs[one: "favourite"]
        let version = try #require(try Self.version(author, store))
        var request = BatchDeleteRequest(store.model.entitiesByName["Book"]!)
        request.resultType = .count
        guard case .count(let count) = try context.execute(request) else {
            Issue.record("the result is no count")
            return
        }
        #expect(count == 1)
        #expect(try #require(try Self.version(author, store)) > version)
        for (context, author) in [(context, author), (other, theirs)] {
            _ = try context.count(context.request("Author"))
            author["name"] = "renamed"
            try context.save()
        }
    }

    @Test func `keep a reference that an undo of the deletion restores`() throws {
        let store = try TestStore(.sealed)
        let context = store.context()
        let author = context.make("Author", ["name": "a"])
        let book = context.make("Book", ["name": "b"])
        author[one: "favourite"] = book
        try context.save()
        context.undoManager = UndoManager()
        context.delete(book)
        try context.save()
        context.undo()
        #expect(author[one: "favourite"] === book)
        try context.save()
        let reader = store.context()
        #expect(try reader.counterpart(of: author)[one: "favourite"]?["name"] == "b")
    }
}
