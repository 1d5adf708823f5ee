import Foundation
import SealedData
import Synchronization
import Testing

@Suite("Saves of a context") struct SavingTests {
    private let library = Library()

    @Test func `the notifications of a save contain the identifiers of its models`() throws {
        typealias Key = ModelContext.NotificationKey
        let context = try library.context(books: 2)
        let books = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.number)]))
        let posted = Mutex<[String: [[PersistentIdentifier]?]]>([:])
        let names = [("will", ModelContext.willSave), ("did", ModelContext.didSave)]
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name.1, object: context, queue: nil) { notification in
                // Programs for SwiftData use each form of the keys.
                let keys: [AnyHashable] = [
                    Key.insertedIdentifiers, Key.updatedIdentifiers, Key.deletedIdentifiers,
                    Key.insertedIdentifiers.rawValue, Key.updatedIdentifiers.rawValue, Key.deletedIdentifiers.rawValue,
                    "inserted", "updated", "deleted",
                ]
                let ids = keys.map { notification.userInfo?[$0] as? [PersistentIdentifier] }
                posted.withLock { $0[name.0] = ids }
            }
        }
        defer { observers.forEach(NotificationCenter.default.removeObserver) }
        let new = Book(number: 3)
        context.insert(new)
        books[0].isLent = true
        context.delete(books[1])
        try context.save()
        let received = posted.withLock { $0 }
        #expect(received["will"] == Array(repeating: nil, count: 9))
        let identifiers = try #require(received["did"])
        #expect(identifiers[0] == [new.persistentModelID])
        #expect(identifiers[1]?.contains(books[0].persistentModelID) == true)
        #expect(identifiers[2] == [books[1].persistentModelID])
        #expect(identifiers[3..<6] == identifiers[0..<3])
        #expect(identifiers[6..<9] == identifiers[0..<3])
        posted.withLock { $0 = [:] }
        try context.save()
        #expect(posted.withLock { $0.isEmpty })
    }

    @Test @MainActor func `the main context saves automatically`() async throws {
        let context = library.container.mainContext
        #expect(context.autosaveEnabled)
        context.insert(Book(number: 1))
        #expect(context.hasChanges)
        while context.hasChanges { await Task.yield() }
        #expect(try library.context().fetchCount(FetchDescriptor<Book>()) == 1)
        let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
        book.isLent = true
        while context.hasChanges { await Task.yield() }
        #expect(try library.context().fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.isLent })) == 1)
    }

    @Test @MainActor func `the main context does not save with autosaving off`() async throws {
        let context = library.container.mainContext
        context.autosaveEnabled = false
        context.insert(Book(number: 1))
        for _ in 0..<100 { await Task.yield() }
        #expect(context.hasChanges)
        let other = library.context()
        #expect(!other.autosaveEnabled)
    }

    @Test func `changes are undone and redone`() throws {
        let context = try library.context(books: 2)
        let undo = UndoManager()
        context.undoManager = undo
        let books = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.number)]))
        books[0].number = 10
        context.processPendingChanges()
        context.delete(books[1])
        context.processPendingChanges()
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 1)
        undo.undo()
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 2)
        #expect(books[1].shelf?.books.count == 2)
        #expect(books[0].number == 10)
    }
}
