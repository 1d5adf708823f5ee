import Guarded
import ObjectGraph
import Testing

/// The reports of a context about values that could not be read.
@Suite struct ReportedFailureTests {
    private struct IsBroken: Error {}

    private let store: TestStore
    private let author: ManagedObjectID

    init() throws {
        store = try TestStore(.sealed)
        let writer = store.context()
        let author = writer.make("Author", ["name": "a", "born": 1867])
        author[many: "books"] = [writer.make("Book", ["name": "b"])]
        try writer.save()
        self.author = author.managedObjectID
    }

    /// A context in which the author's name and books could not be read.
    private func contextWithFailures() throws -> (ManagedObjectContext, ManagedObject) {
        let context = store.context()
        let author = try #require(context.object(with: author) as? ManagedObject)
        readWithFailures(author)
        return (context, author)
    }

    /// Reads the name (if the author is a fault) and the books while the store cannot be read.
    private func readWithFailures(_ author: ManagedObject) {
        store.counter.failReads(with: IsBroken())
        _ = author["name"]
        #expect(author[many: "books"].isEmpty)
        store.counter.failReads(with: nil)
    }

    private static func failures(_ body: () throws -> Void) throws -> [String] {
        do {
            try body()
            return []
        } catch ObjectGraphError.unreadable(let values) {
            return values.map { "\($0.id.entity.name).\($0.property ?? "*")" }
        }
    }

    private static let expected = ["Author.*", "Author.books"]

    @Test func `a fetch reports each failure once, and a save until it is forgotten`() throws {
        let (context, author) = try contextWithFailures()
        let request = context.request("Author")
        #expect(try Self.failures { let _: [ManagedObject] = try context.fetch(request) } == Self.expected)
        #expect(try context.fetch(request, as: ManagedObject.self).count == 1)
        #expect(try Self.failures { try context.save() } == Self.expected)
        #expect(try Self.failures { try context.save() } == Self.expected)
        #expect(author["name"] == "a")
        context.forgetReadFailures()
        try context.save()
        #expect(context.unreadableValues.isEmpty)
    }

    @Test func `counts, identifier, dictionary and enumerating fetches report failures too`() async throws {
        let request = store.context().request("Author")
        let name = ExpressionDescription("name", store.model.path("Author", "name"))
        let dictionaries = DictionaryFetchRequest(request.entity, [name])
        let requests: [(ManagedObjectContext) throws -> Void] = [
            { _ = try $0.count(request) }, { _ = try $0.fetchIDs(request) },
            { _ = try $0.fetchDictionaries(dictionaries) },
            { try $0.enumerate(request) { (_: [ManagedObject]) in } },
            { _ = try $0.fetch(request, batchSize: 10, as: ManagedObject.self) },
        ]
        for perform in requests {
            let (context, _) = try contextWithFailures()
            #expect(try Self.failures { try perform(context) } == Self.expected)
            #expect(try Self.failures { try perform(context) } == [])
        }
        let (context, _) = try contextWithFailures()
        await #expect(throws: ObjectGraphError.self) {
            let _: [ManagedObject] = try await context.fetchAsynchronously(request)
        }
    }

    @Test func `an enumeration reports the failures of its body`() throws {
        let context = store.context()
        var bodies = 0
        let failures = try Self.failures {
            try context.enumerate(context.request("Author")) { (authors: [ManagedObject]) in
                bodies += 1
                for author in authors { readWithFailures(author) }
            }
        }
        #expect(bodies == 1)
        #expect(failures == ["Author.books"])
    }

    @Test func `the handler is called once for each value`() throws {
        let context = store.context()
        let author = try #require(context.object(with: author) as? ManagedObject)
        let reported = Guarded<[String]>([])
        context.didFailToRead = { value in reported.withLock { $0.append(value.property ?? "*") } }
        readWithFailures(author)
        #expect(reported.withLock { $0 } == ["*", "books"])
        #expect(context.unreadableValues.map { $0.property ?? "*" } == ["*", "books"])
        #expect(context.unreadableValues.allSatisfy { $0.id == author.managedObjectID && $0.cause is IsBroken })
    }

    @Test func `a child reports values that its parent could not read`() throws {
        let parent = store.context()
        let child = ManagedObjectContext(parent: parent)
        let author = try #require(child.object(with: author) as? ManagedObject)
        readWithFailures(author)
        #expect(try Self.failures { try child.save() } == Self.expected)
        child.rollback()
        #expect(author["name"] == "a")
        author["name"] = "b"
        try child.save()
        #expect(author[many: "books"].count == 1)
    }

    @Test func `a child reports failures of its parent's changed objects`() throws {
        let parent = store.context()
        let theirs = try #require(parent.object(with: author) as? ManagedObject)
        theirs["born"] = 1868
        let child = ManagedObjectContext(parent: parent)
        let own = try #require(child.object(with: author) as? ManagedObject)
        #expect(own["born"] == 1868)
        store.counter.failReads(with: IsBroken())
        #expect(own[many: "books"].isEmpty)
        store.counter.failReads(with: nil)
        #expect(try Self.failures { try child.save() } == ["Author.books"])
        #expect(try Self.failures { try parent.save() } == ["Author.books"])
    }

    @Test func `a background context reports them`() async throws {
        let background = BackgroundContext(coordinator: store.coordinator)
        let (author, counter) = (author, store.counter)
        await #expect(throws: ObjectGraphError.self) {
            try await background.perform { context in
                counter.failReads(with: IsBroken())
                let name = (context.object(with: author) as? ManagedObject)?["name"]
                counter.failReads(with: nil)
                guard name == .null else { return }
                try context.save()
            }
        }
    }

    @Test func `a registered fault that cannot be filled is an error of existingObject`() throws {
        let context = store.context()
        let fault = context.object(with: author)
        store.counter.failReads(with: IsBroken())
        #expect(throws: (any Error).self) { try context.existingObject(with: author) }
        store.counter.failReads(with: nil)
        #expect(fault.isFault)
    }
}
