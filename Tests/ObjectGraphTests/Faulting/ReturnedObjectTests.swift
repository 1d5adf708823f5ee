import ObjectGraph
import Testing

/// Objects that were deleted and are in the store again, in a context that has no row of them.
@Suite struct ReturnedObjectTests {
    /// The way in which the context reads the row again.
    enum Reading: CaseIterable, Sendable {
        case fetch, fetchOfFaults, fetchOfProperties, existingObject
    }

    private static func read(_ context: ManagedObjectContext, _ reading: Reading, _ id: ManagedObjectID) throws
        -> ManagedObject
    {
        var request = context.request("Author")
        switch reading {
        case .fetch: break
        case .fetchOfFaults: request.returnsObjectsAsFaults = true
        case .fetchOfProperties: request.propertiesToFetch = request.entity.properties.filter { $0.name == "name" }
        case .existingObject: return try #require(try context.existingObject(with: id) as? ManagedObject)
        }
        let found: [ManagedObject] = try context.fetch(request)
        return try #require(found.first)
    }

    // context                              another container
    //                                      deletes the author, and saves
    // makes a fault of it, and reads it
    //                                      undoes the deletion, and saves
    // reads the author again
    @Test(arguments: StoreKind.allCases, Reading.allCases)
    func `a missing fault becomes present when its row is read`(kind: StoreKind, reading: Reading) throws {
        let store = try TestStore(kind)
        let other = ManagedObjectContext(coordinator: try store.anotherCoordinator())
        other.undoManager = UndoManager()
        let author = other.make("Author", ["name": "a", "born": 1])
        author[many: "books"] = [other.make("Book", ["name": "b"])]
        try other.save()
        let context = store.context()
        other.delete(author)
        try other.save()
        let fault = try #require(context.object(with: author.managedObjectID) as? ManagedObject)
        #expect(fault["name"] == .null)
        #expect(fault[many: "books"].isEmpty)
        #expect(fault.isObjectDeleted)
        other.undo()
        try other.save()
        #expect(try Self.read(context, reading, author.managedObjectID) === fault)
        #expect(!fault.isObjectDeleted)
        #expect(fault["name"] == "a")
        #expect(fault["born"] == 1)
        #expect(fault[many: "books"].names == ["b"])
        fault["born"] = 2
        try context.save()
        #expect(try store.context().one("Author")["born"] == 2)
        #expect(try store.problems() == [])
    }

    // context                              another container
    //                                      changes the tag
    // deletes a fault of it, and saves
    //                                      saves with the policy overwrite
    // reads the tag again
    @Test(arguments: StoreKind.allCases, Reading.allCases)
    func `a fault whose deletion was saved becomes present when its row is read`(
        kind: StoreKind,
        reading: Reading
    ) throws {
        let store = try TestStore(kind)
        let other = ManagedObjectContext(coordinator: try store.anotherCoordinator())
        other.mergePolicy = .overwrite
        let author = other.make("Author", ["name": "a"])
        try other.save()
        author["born"] = 1
        let context = store.context()
        let fault = try #require(context.object(with: author.managedObjectID) as? ManagedObject)
        context.delete(fault)
        try context.save()
        try other.save()
        #expect(try Self.read(context, reading, author.managedObjectID) === fault)
        #expect(!fault.isObjectDeleted)
        #expect(fault["name"] == "a")
        #expect(fault["born"] == 1)
    }

    // context                              another container
    //                                      changes the author
    // changes it, deletes it, and saves
    //                                      saves with the policy overwrite
    // reads the author again
    @Test(arguments: StoreKind.allCases, Reading.allCases)
    func `a returned object has no changes that ended with its deletion`(kind: StoreKind, reading: Reading) throws {
        let store = try TestStore(kind)
        let other = ManagedObjectContext(coordinator: try store.anotherCoordinator())
        other.mergePolicy = .overwrite
        let author = other.make("Author", ["name": "a"])
        try other.save()
        author["born"] = 1
        let context = store.context()
        let own = try context.counterpart(of: author)
        own["name"] = "changed"
        context.delete(own)
        try context.save()
        try other.save()
        #expect(try Self.read(context, reading, author.managedObjectID) === own)
        #expect(own["name"] == "a")
        #expect(own["born"] == 1)
        #expect(!context.hasChanges)
    }
}
