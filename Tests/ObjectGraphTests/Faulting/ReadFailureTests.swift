import ObjectGraph
import Testing

/// Reads of properties while the store cannot be read.
@Suite struct ReadFailureTests {
    private struct IsBroken: Error {}

    private static func store(_ kind: StoreKind) throws -> (TestStore, ManagedObjectContext, ManagedObject) {
        let store = try TestStore(kind)
        let writer = store.context()
        let author = writer.make("Author", ["name": "a", "born": 1867])
        author[many: "books"] = [writer.make("Book", ["name": "b"])]
        try writer.save()
        let context = store.context()
        let fault = try #require(context.object(with: author.managedObjectID) as? ManagedObject)
        return (store, context, fault)
    }

    /// The unreadable values that a save reports.
    private static func failures(_ context: ManagedObjectContext) throws -> [String] {
        do {
            try context.save()
            return []
        } catch ObjectGraphError.unreadable(let values) {
            return values.map { "\($0.id.entity.name).\($0.property ?? "*"): \($0.cause is IsBroken)" }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `values derived from an unreadable value are not saved`(kind: StoreKind) throws {
        let (store, context, author) = try Self.store(kind)
        store.counter.failReads(with: IsBroken())
        let copy = context.make("Author", ["name": author["name"]])
        #expect(copy["name"] == .null)
        store.counter.failReads(with: nil)
        #expect(try Self.failures(context) == ["Author.*: true"])
        #expect(author["name"] == "a", "the next read succeeds")
        #expect(try Self.failures(context) == ["Author.*: true"], "the copy is still there")
        #expect(try store.context().all("Author").count == 1)
        copy["name"] = author["name"]
        context.forgetReadFailures()
        try context.save()
        #expect(try store.context().all("Author").texts("name") == ["a", "a"])
    }

    @Test(arguments: StoreKind.allCases)
    func `unreadable relationships are reported too`(kind: StoreKind) throws {
        let (store, context, author) = try Self.store(kind)
        #expect(author["name"] == "a")
        store.counter.failReads(with: IsBroken())
        #expect(author[many: "books"].isEmpty)
        author["name"] = "without books"
        store.counter.failReads(with: nil)
        #expect(try Self.failures(context) == ["Author.books: true"])
        #expect(author[many: "books"].count == 1)
        context.rollback()
        author["name"] = "with books"
        #expect(try Self.failures(context) == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `refreshing the object forgets its failures`(kind: StoreKind) throws {
        let (store, context, author) = try Self.store(kind)
        store.counter.failReads(with: IsBroken())
        #expect(author["born"] == .null)
        store.counter.failReads(with: nil)
        context.refresh(author, mergeChanges: false)
        author["born"] = 1868
        #expect(try Self.failures(context) == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `a context without changes reports unreadable values`(kind: StoreKind) throws {
        let (store, context, author) = try Self.store(kind)
        store.counter.failReads(with: IsBroken())
        #expect(author["born"] == .null)
        #expect(try Self.failures(context) == ["Author.*: true"])
        store.counter.failReads(with: nil)
        context.reset()
        context.make("Tag")
        #expect(try Self.failures(context) == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `damage to a deleted object stays reported, since its empty values may have been copied`(
        kind: StoreKind
    ) throws {
        let (store, context, author) = try Self.store(kind)
        store.counter.failReads(with: IsBroken())
        #expect(author["born"] == .null)
        store.counter.failReads(with: nil)
        let other = store.context()
        other.delete(try other.counterpart(of: author))
        try other.save()
        context.make("Tag")
        #expect(try Self.failures(context) == ["Author.*: true"])
        #expect(author.isObjectDeleted)
        context.forgetReadFailures()
        #expect(try Self.failures(context) == [])
    }
}
