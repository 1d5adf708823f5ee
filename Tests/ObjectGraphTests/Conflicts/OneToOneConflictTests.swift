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

    // first                       | second
    //                             | deletes the item
    // gives it to b, saves        |
    //                             | saves
    // gives it to a, saves:       |
    // inserts it again            |
    @Test(arguments: StoreKind.allCases)
    func `an object that is inserted again is not the destination of its last owner`(kind: StoreKind) throws {
        let store = try TestStore(kind, ContextModel.model([.partner]))
        let first = store.context()
        let owners = ["a", "b"].map { first.make("Owner", ["name": .text($0)]) }
        let item = first.make("Item", ["name": "item"])
        owners[0][one: "badge"] = item
        try first.save()
        first.mergePolicy = .overwrite
        let second = store.context()
        second.mergePolicy = .mergeByPropertyObjectTrump
        let own = try owners.map { try second.counterpart(of: $0) }
        let ownItem = try second.counterpart(of: item)
        second.delete(ownItem)
        second.processPendingChanges()
        item[one: "bearer"] = owners[1]
        try first.save()
        item[one: "bearer"] = owners[0]
        try second.save()
        try first.save()
        second.processPendingChanges()
        #expect(own.map { $0[one: "badge"] } === [ownItem, nil])
        #expect(owners.map { $0[one: "badge"] } === [item, nil])
        let fresh = store.context()
        #expect(try owners.map { try fresh.counterpart(of: $0)[one: "badge"] != nil } == [true, false])
        #expect(try store.problems() == [])
    }

    private static let cars = Fixtures.model(
        EntityDescription(
            "Car",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("plate", to: "Plate", .one, inverse: "car")]
        ),
        EntityDescription(
            "Plate",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("car", to: "Car", .one, inverse: "plate", isOptional: false)]
        )
    )

    @Test(
        arguments: [true, false],
        [MergePolicy.error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback]
    )
    func `a destination that another object requires is not taken`(isRegistered: Bool, policy: MergePolicy) throws {
        let store = try TestStore(.sealed, Self.cars)
        let (first, second) = (store.context(), store.context())
        first.mergePolicy = policy
        let car = first.make("Car", ["name": "car"])
        try first.save()
        let plate = first.make("Plate", ["name": "a"])
        plate[one: "car"] = car
        let rival = second.make("Plate", ["name": "b"])
        rival[one: "car"] = try second.counterpart(of: car)
        try second.save()
        let ownRival = isRegistered ? try first.counterpart(of: rival) : nil
        let error = try #require(throws: ObjectGraphError.self) { try first.save() }
        switch (policy, error) {
        case (.error, .conflicts): break
        case (_, .validation(let problems)):
            #expect(policy != .error)
            #expect(problems.map(\.property) == ["car"])
            #expect(problems.map(\.reason) == [.missingValue])
        default: Issue.record("the error is \(error)")
        }
        withExtendedLifetime(ownRival) {}
        first.rollback()
        #expect(try store.context().all("Plate").texts("name") == ["b"])
        #expect(try store.problems() == [])
    }
}
