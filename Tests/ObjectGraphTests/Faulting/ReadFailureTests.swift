import ObjectGraph
import Testing

/// Properties that are asked for their values while the store cannot be read.
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

    /// The unreadable values that a save tells of.
    private static func failures(_ context: ManagedObjectContext) throws -> [String] {
        do {
            try context.save()
            return []
        } catch ObjectGraphError.unreadable(let values) {
            return values.map { "\($0.id.entity.name).\($0.property ?? "*"): \($0.cause is IsBroken)" }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `what was made of a value that could not be read is not saved`(kind: StoreKind) throws {
        let (store, context, author) = try Self.store(kind)
        store.counter.failReads(with: IsBroken())
        let copy = context.make("Author", ["name": author["name"]])
        #expect(copy["name"] == .null)
        store.counter.failReads(with: nil)
        #expect(try Self.failures(context) == ["Author.*: true"])
        #expect(author["name"] == "a", "it is read as soon as it can be")
        #expect(try Self.failures(context) == ["Author.*: true"], "and what was made of it is still there")
        #expect(try store.context().all("Author").count == 1)
        copy["name"] = author["name"]
        context.forgetReadFailures()
        try context.save()
        #expect(try store.context().all("Author").texts("name") == ["a", "a"])
    }

    @Test(arguments: StoreKind.allCases)
    func `relationships tell it as well`(kind: StoreKind) throws {
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
    func `refreshing the object starts anew`(kind: StoreKind) throws {
        let (store, context, author) = try Self.store(kind)
        store.counter.failReads(with: IsBroken())
        #expect(author["born"] == .null)
        store.counter.failReads(with: nil)
        context.refresh(author, mergeChanges: false)
        author["born"] = 1868
        #expect(try Self.failures(context) == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `a context without changes reports what it could not read`(kind: StoreKind) throws {
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
    func `damage to an object that is deleted stays known, since its empty values may have been copied`(
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
