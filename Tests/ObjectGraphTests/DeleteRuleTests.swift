import ObjectGraph
import Testing

@Suite struct DeleteRuleTests {
    /// An owner with two items along a relationship, saved or new.
    private static func owner(
        _ store: TestStore,
        along relationship: String,
        saved: Bool = true
    ) throws -> (ManagedObjectContext, ManagedObject, [ManagedObject]) {
        let context = store.context()
        let owner = context.make("Owner", ["name": "owner"])
        let items = ["a", "b"].map { context.make("Item", ["name": .text($0)]) }
        owner[many: relationship] = items
        if saved { try context.save() }
        return (context, owner, items)
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `nullify clears the inverse`(kind: StoreKind, saved: Bool) throws {
        let store = try TestStore(kind, Fixtures.rules)
        let (context, owner, items) = try Self.owner(store, along: "nullified", saved: saved)
        context.delete(owner)
        #expect(items.allSatisfy { $0[one: "nullifying"] == nil })
        try context.save()
        let reader = store.context()
        #expect(try reader.all("Item").allSatisfy { $0[one: "nullifying"] == nil })
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `cascade deletes the destinations`(kind: StoreKind, saved: Bool) throws {
        let store = try TestStore(kind, Fixtures.rules)
        let (context, owner, items) = try Self.owner(store, along: "cascaded", saved: saved)
        context.delete(owner)
        #expect(!saved || context.deletedObjects.count == 3)
        #expect(items.allSatisfy { $0.isObjectDeleted })
        try context.save()
        #expect(try store.context().count(context.request("Item")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `deleting a destination removes it from the owner's members`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.rules)
        for relationship in ["nullified", "cascaded", "denied", "ignored"] {
            let (context, owner, items) = try Self.owner(store, along: relationship)
            context.delete(items[0])
            #expect(owner[many: relationship].names == ["b"], "\(relationship)")
            try context.save()
            let reader = store.context()
            #expect(try reader.counterpart(of: owner)[many: relationship].names == ["b"], "\(relationship)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `deny reports all destinations and changes nothing`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.rules)
        let (context, owner, items) = try Self.owner(store, along: "denied")
        let second = context.make("Owner")
        second[many: "denied"] = [context.make("Item")]
        try context.save()
        context.delete(owner)
        context.delete(second)
        let error = #expect(throws: ObjectGraphError.self) { try context.save() }
        guard case .validation(let problems)? = error else {
            Issue.record("the error is \(String(describing: error))"); return
        }
        #expect(Set(problems.map(\.id)) == [owner.managedObjectID, second.managedObjectID])
        #expect(problems.allSatisfy { $0.reason == .deletionDenied && $0.property == "denied" })
        #expect(try store.context().count(context.request("Owner")) == 2)
        // Without members the rule allows the deletion.
        for item in items + second[many: "denied"] { context.delete(item) }
        try context.save()
        #expect(try store.context().count(context.request("Owner")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `no action leaves no dangling reference in the store`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.rules)
        let (context, owner, items) = try Self.owner(store, along: "ignored")
        context.delete(owner)
        #expect(!items[0].isUpdated)
        try context.save()
        #expect(items[0][one: "ignoring"] == nil)
        let reader = store.context()
        let ignoring = store.model.path("Item", "ignoring")
        #expect(try reader.all("Item", where: ignoring == .null).count == 2)
        #expect(try reader.all("Item").allSatisfy { $0[one: "ignoring"] == nil })
    }

    @Test(arguments: StoreKind.allCases)
    func `cascade follows a back-reference that is not optional`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let book = context.make("Book")
        book[many: "chapters"] = [context.make("Chapter"), context.make("Chapter")]
        book[one: "cover"] = context.make("Cover")
        try context.save()
        context.delete(book)
        try context.save()
        let reader = store.context()
        for entity in ["Book", "Chapter", "Cover"] {
            #expect(try reader.count(reader.request(entity)) == 0, "\(entity)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `cascade terminates in a cycle`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.rules)
        let context = store.context()
        let nodes = (0..<5).map { _ in context.make("Node") }
        for (number, node) in nodes.enumerated() { node[one: "next"] = nodes[(number + 1) % 5] }
        try context.save()
        context.delete(nodes[3])
        #expect(context.deletedObjects.count == 5)
        try context.save()
        #expect(try store.context().count(context.request("Node")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `cascade runs along a chain of a hundred thousand`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.rules)
        let writer = store.context()
        var last: ManagedObject?
        for _ in 0..<100_000 {
            let node = writer.make("Node")
            last?[one: "next"] = node
            last = node
        }
        try writer.save()
        let context = store.context()
        let first = try context.one("Node", where: store.model.path("Node", "previous") == .null)
        context.delete(first)
        try context.save()
        #expect(try context.count(context.request("Node")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `a deleted object returns its last values`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "Ōgai"])
        author["born"] = 1862
        try context.save()
        author["name"] = "Mori"
        context.delete(author)
        #expect(author["name"] == "Mori")
        #expect(author.isObjectDeleted)
        try context.save()
        #expect(author["name"] == "Mori")
        #expect(author["born"] == 1862)
        #expect(author.isObjectDeleted)
        author["name"] = "x"
        context.delete(author)
        #expect(!context.hasChanges)
        #expect(try context.existingObject(with: author.managedObjectID) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `inserting a deleted object reverts the deletion`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.rules)
        let (context, owner, items) = try Self.owner(store, along: "nullified")
        context.delete(owner)
        #expect(items[0][one: "nullifying"] == nil)
        context.insert(owner)
        #expect(!owner.isObjectDeleted)
        #expect(items[0][one: "nullifying"] === owner)
        #expect(owner[many: "nullified"].names == ["a", "b"])
        try context.save()
        let reader = store.context()
        #expect(try reader.one("Owner")[many: "nullified"].names == ["a", "b"])
    }
}
