import Foundation
import Guarded
import ObjectGraph
import Testing

/// Objects whose context has been deallocated.
@Suite struct LostContextTests {
    private let store: TestStore
    private let author: ManagedObjectID
    private let reported = Guarded<[String]>([])

    init() throws {
        store = try TestStore(.sealed)
        let writer = store.context()
        let author = writer.make("Author", ["name": "a", "born": 1867])
        author[many: "books"] = [writer.make("Book", ["name": "b"])]
        try writer.save()
        self.author = author.managedObjectID
    }

    /// Returns an object whose context is deallocated.
    private func lost(_ find: (ManagedObjectContext) throws -> (any GraphObject)?) throws -> ManagedObject {
        let context = store.context()
        let reported = reported
        context.didFailToRead = { value in
            reported.withLock { $0.append("\(value.property ?? "*") \(value.cause is ReadFailures.MissingContext)") }
        }
        return try #require(try find(context) as? ManagedObject)
    }

    @Test func `read values stay, and each value that needs the store is reported once`() throws {
        let author = try lost { try $0.all("Author").first }
        #expect(author["name"] == "a")
        #expect(author["born"] == 1867)
        #expect(reported.withLock { $0 } == [])
        #expect(author[many: "books"].isEmpty)
        #expect(author[many: "books"].isEmpty)
        #expect(reported.withLock { $0 } == ["books true"])
    }

    @Test func `a fault and the destination of a relationship are reported`() throws {
        let fault = try lost { $0.object(with: author) }
        #expect(fault["name"] == .null)
        let book = try lost { try $0.all("Book").first }
        #expect(book["name"] == "b")
        #expect(book[one: "author"] == nil)
        #expect(reported.withLock { $0 } == ["name true", "author true"])
    }

    @Test func `an object of a partial fetch returns the fetched values`() throws {
        let author = try lost { context in
            var request = context.request("Author")
            request.propertiesToFetch = [context.model.entitiesByName["Author"]!.propertiesByName["name"]!]
            return try context.fetch(request, as: ManagedObject.self).first
        }
        #expect(author["name"] == "a")
        #expect(reported.withLock { $0 } == [])
        #expect(author["born"] == .null)
        #expect(reported.withLock { $0 } == ["born true"])
    }

    @Test func `new and deleted objects report no failure`() throws {
        let new = try lost { $0.make("Author", ["name": "new"]) }
        #expect(new["born"] == .null)
        let deleted = try lost { context in
            let author = try context.one("Author")
            context.delete(author)
            try context.save()
            return author
        }
        #expect(deleted[many: "books"].isEmpty)
        #expect(reported.withLock { $0 } == [])
    }

    @Test func `a value that was not read is never saved as empty`() throws {
        let fault = try lost { $0.object(with: author) }
        let other = store.context()
        other.insert(fault)
        do {
            try other.save()
            Issue.record("the object was saved")
        } catch ObjectGraphError.validation(let problems) {
            let unread = problems.filter { $0.reason == .unread }.map(\.property)
            #expect(unread.contains("name") && unread.contains("born"))
        }
        for case .attribute(let attribute) in fault.managedObjectID.entity.properties { fault[attribute.name] = .null }
        fault["name"] = "set"
        try other.save()
        #expect(try store.context().all("Author").texts("name").sorted() == ["a", "set"])
        #expect(try store.problems().isEmpty)
    }

    @Test func `saving read values reads nothing else`() throws {
        let author = try lost { try $0.all("Author").first }
        let other = store.context()
        other.insert(author)
        try other.save()
        #expect(try store.context().all("Author").map { $0["born"] } == [1867, 1867])
    }

    @Test func `objects released by a reset report failures`() throws {
        let context = store.context()
        let author = try #require(context.object(with: author) as? ManagedObject)
        let reported = reported
        context.didFailToRead = { value in reported.withLock { $0.append(value.property ?? "*") } }
        context.reset()
        #expect(author["name"] == .null)
        #expect(reported.withLock { $0 } == ["name"])
        try context.save()
    }

    @Test func `without a handler a failure is written to standard error`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let store = try TestStore(.reference)
            let writer = store.context()
            let author = writer.make("Author", ["name": "a secret"])
            try writer.save()
            let fault = store.context().object(with: author.managedObjectID) as? ManagedObject
            try #require(fault?["name"] == .null && fault?["born"] == .null)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let report = "Author.name: the context of the object no longer exists"
        #expect(text.components(separatedBy: report).count == 2, "\(text)")
        #expect(text.contains("keep the context"))
        #expect(!text.contains("Author.born") && !text.contains("secret"))
    }
}
