import ObjectGraph
import Testing

/// Requests of a child that write while its parent cannot read.
@Suite struct ChildReadFailureTests {
    private struct IsBroken: Error {}

    // parent                               child                           store
    // has the author in memory
    //                                                                      fails all reads
    //                                      updates all authors in a batch
    //                                                                      commits
    // cannot reload the author
    @Test(arguments: StoreKind.allCases)
    func `a batch request that has committed does not throw`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let parent = store.context()
        let author = parent.make("Author", ["name": "a", "born": 1])
        try parent.save()
        let child = ManagedObjectContext(parent: parent)
        let born = store.model.path("Author", "born")
        let request = BatchUpdateRequest(
            store.model.entitiesByName["Author"]!,
            propertiesToUpdate: ["born": .arithmetic(.add, born, .literal(1))]
        )
        store.counter.failReads(with: IsBroken())
        try child.execute(request)
        store.counter.failReads(with: nil)
        #expect(try store.context().one("Author")["born"] == 2)
        #expect(!parent.unreadableValues.isEmpty)
        #expect(throws: ObjectGraphError.self, "the parent has an outdated value") { try parent.save() }
        parent.refresh(author, mergeChanges: false)
        #expect(author["born"] == 2)
        try parent.save()
    }

    @Test(arguments: StoreKind.allCases)
    func `a save that cannot read the destinations of relationships changes nothing`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let parent = store.context()
        let book = parent.make("Book", ["name": "b"])
        let ids = try {
            let author = parent.make("Author", ["name": "a"])
            try parent.save()
            return [author.managedObjectID, book.managedObjectID]
        }()
        let child = ManagedObjectContext(parent: parent)
        let own = child.objects(with: ids).map { $0 as! ManagedObject }
        let copies = [try child.one("Author"), try child.one("Book")]
        #expect(own === copies)
        copies[1][one: "author"] = copies[0]
        let added = child.make("Book", ["name": "c"])
        added[one: "author"] = copies[0]
        // Releases the parent's author, to which only the parent refers.
        try #require(parent.registeredObjects.count == 1)
        store.counter.failReads(with: IsBroken())
        #expect(throws: ObjectGraphError.self) { try child.save() }
        #expect(!parent.hasChanges)
        #expect(child.hasChanges)
        store.counter.failReads(with: nil)
        try child.save()
        #expect(book[one: "author"]?["name"] == "a")
        parent.forgetReadFailures()
        try parent.save()
        let reader = store.context()
        #expect(try reader.one("Author")[many: "books"].names == ["b", "c"])
    }
}
