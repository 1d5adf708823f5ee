import ObjectGraph
import Testing

@Suite("One-to-one relationships that two contexts change") struct OneToOneConflictTests {
    @Test(arguments: StoreKind.allCases, [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func `the object that loses its destination has none in any context`(kind: StoreKind, policy: MergePolicy) throws {
        let store = try TestStore(kind)
        let (first, second) = (store.context(), store.context())
        first.mergePolicy = policy
        second.mergePolicy = policy
        let (loser, winner) = (first.make("Book", ["name": "a"]), first.make("Book", ["name": "b"]))
        let cover = first.make("Cover", ["name": "cover"])
        try first.save()
        let (otherLoser, otherWinner) = (
            try #require(second.all("Book").first), try #require(second.all("Book").last)
        )
        let otherCover = try second.one("Cover")
        loser[one: "cover"] = cover
        try first.save()
        otherWinner[one: "cover"] = otherCover
        try second.save()
        for context in [first, second] { _ = try context.all("Book") + context.all("Cover") }
        #expect(otherLoser[one: "cover"] == nil)
        #expect(otherWinner[one: "cover"] === otherCover)
        #expect(otherCover[one: "book"] === otherWinner)
        #expect(loser[one: "cover"] == nil)
        #expect(winner[one: "cover"] === cover)
        #expect(cover[one: "book"] === winner)
        // The rule cascade does not reach the destination of another object.
        first.delete(loser)
        try first.save()
        let reader = store.context()
        #expect(try reader.one("Cover")[one: "book"]?.managedObjectID == winner.managedObjectID)
    }

    // first               | second
    //                     | gives the cover of a to b, saves
    // renames a, saves    |
    //                     | deletes b, saves
    @Test(arguments: StoreKind.allCases)
    func `an object that takes its destination back takes it from its rival in all contexts`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (first, second) = (store.context(), store.context())
        first.mergePolicy = .overwrite
        let (owner, rival) = (first.make("Book", ["name": "a"]), first.make("Book", ["name": "b"]))
        let cover = first.make("Cover", ["name": "cover"])
        owner[one: "cover"] = cover
        try first.save()
        let (otherOwner, otherRival) = (try second.counterpart(of: owner), try second.counterpart(of: rival))
        let otherCover = try second.one("Cover")
        otherRival[one: "cover"] = otherCover
        try second.save()
        owner["name"] = "renamed"
        try first.save()
        for context in [first, second] { _ = try context.all("Book") + context.all("Cover") }
        #expect(owner[one: "cover"] === cover)
        #expect(cover[one: "book"] === owner)
        #expect(rival[one: "cover"] == nil)
        #expect(otherOwner[one: "cover"] === otherCover)
        #expect(otherCover[one: "book"] === otherOwner)
        #expect(otherRival[one: "cover"] == nil)
        second.delete(otherRival)
        try second.save()
        let reader = store.context()
        #expect(try reader.one("Cover")[one: "book"]?.managedObjectID == owner.managedObjectID)
        #expect(try store.problems() == [])
    }
}
