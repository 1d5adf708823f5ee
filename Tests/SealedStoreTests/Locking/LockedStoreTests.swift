import EncryptedSQLite
import Foundation
import Guarded
import ObjectGraph
import TestSupport
import Testing

@testable import SealedStore

/// Stores that are locked, suspended, or get another key, with objects and contexts that continue.
@Suite struct LockedStoreTests {
    private let folder = TemporaryFolder()
    private let library: Library
    private let store: SealedStore
    private let newKey = EncryptionKey.passphrase("another passphrase")

    init() throws {
        library = try Library(folder.file("library.store"))
        store = try #require(library.coordinator.sealedStores.first)
        let author = library.insert("Author", ["name": .text("Ursula")])
        for number in 1...3 {
            let book = library.insert("Book", ["title": .text("Book \(number)")])
            book.setDestination(author, forRelationship: "author")
        }
        try library.context.save()
    }

    private func fetchBooks(in context: ManagedObjectContext) throws -> [ManagedObject] {
        try context.fetch(FetchRequest(library.entity("Book")), as: ManagedObject.self)
    }

    @Test func `fetches and saves throw locked, and objects answer the values that were read`() throws {
        let context = ManagedObjectContext(coordinator: library.coordinator)
        let failures = Guarded(0)
        context.didFailToRead = { _ in failures.withLock { $0 += 1 } }
        let book = try #require(try fetchBooks(in: context).first)
        #expect(book["title"] == .text("Book 1"))
        store.lock()
        #expect(store.isLocked)
        #expect(throws: DatabaseError.locked) { try fetchBooks(in: context) }
        #expect(book["title"] == .text("Book 1"))
        book["title"] = .text("Changed")
        #expect(throws: DatabaseError.locked) { try context.save() }
        #expect(failures.withLock { $0 } == 0)
        let author = book.destination(forRelationship: "author") as? ManagedObject
        #expect(author?["name"] != .text("Ursula"), "the author was not read")
        #expect(failures.withLock { $0 } > 0)
        #expect(throws: SealedStoreError.otherStore) { try unlockAnotherStore() }
        #expect(throws: DatabaseError.wrongKey(path: folder.filePath("library.store"))) {
            try store.unlock(with: newKey)
        }
        try store.unlock(with: Library.key)
        #expect(!store.isLocked)
        context.forgetReadFailures()
        try context.save()
        #expect(book["title"] == .text("Changed"))
        let other = ManagedObjectContext(coordinator: library.coordinator)
        #expect(try fetchBooks(in: other).contains { $0["title"] == .text("Changed") })
    }

    /// Puts another store of the same model and key at the path, tries to unlock, and puts the store back.
    private func unlockAnotherStore() throws {
        let other = TemporaryFolder()
        try Library(other.file("library.store")).coordinator.removeAllStores()
        let (path, saved) = (folder.filePath("library.store"), folder.filePath("saved"))
        try FileManager.default.moveItem(atPath: path, toPath: saved)
        try FileManager.default.copyItem(atPath: other.filePath("library.store"), toPath: path)
        defer {
            try? FileManager.default.removeItem(atPath: path)
            try? FileManager.default.moveItem(atPath: saved, toPath: path)
        }
        try store.unlock(with: Library.key)
    }

    // this store                       | at the path
    // has reserved the keys of a block | backup of an earlier time is put there
    // is unlocked, inserts             |
    // another container inserts        |
    @Test func `keys that were reserved before a file was exchanged are not given again`() throws {
        let (path, backup) = (folder.filePath("library.store"), folder.file("backup"))
        try store.backUp(to: backup)
        let before = try store.obtainPermanentIDs(for: library.entity("Book"), count: 100).map(\.key)
        store.lock()
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
        try FileManager.default.moveItem(at: backup, to: URL(filePath: path))
        try store.unlock(with: Library.key)
        let book = library.insert("Book", ["title": .text("after")])
        try library.context.save()
        #expect(book.managedObjectID.key > before.max() ?? 0)
        let other = try Library(folder.file("library.store"))
        for number in 0..<200 { other.insert("Book", ["title": .text("other \(number)")]) }
        try other.context.save()
        for number in 0..<200 { library.insert("Book", ["title": .text("more \(number)")]) }
        try library.context.save()
        #expect(try library.check() == [])
    }

    @Test func `a suspended store continues with the same objects`() throws {
        let book = try #require(try fetchBooks(in: library.context).first)
        store.suspend()
        #expect(throws: DatabaseError.suspended) {
            try ManagedObjectContext(coordinator: library.coordinator).count(FetchRequest(library.entity("Book")))
        }
        try store.resume()
        book["title"] = .text("Changed")
        try library.context.save()
        #expect(try library.check() == [])
    }

    @Test func `a store that another program migrated while it was locked stays locked`() throws {
        store.lock()
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Author", attributes: [AttributeDescription("name", .string)])
        ])
        try Library(folder.file("library.store"), model: model).coordinator.removeAllStores()
        do {
            try store.unlock(with: Library.key)
            Issue.record("the store was unlocked")
        } catch SealedStoreError.migratedByAnotherProgram {
            #expect(store.isLocked)
        }
    }

    @Test func `live objects and contexts continue after a change of the key`() throws {
        let context = ManagedObjectContext(coordinator: library.coordinator)
        let books = try fetchBooks(in: context)
        try store.changeKey(to: newKey)
        #expect(books.map { $0["title"] } == [.text("Book 1"), .text("Book 2"), .text("Book 3")])
        let author = books[0].destination(forRelationship: "author") as? ManagedObject
        #expect(author?["name"] == .text("Ursula"), "a fault is read from the new file")
        books[0]["title"] = .text("Changed")
        try context.save()
        #expect(try library.check() == [])
        try library.coordinator.removeAllStores()
        let reopened = try Library(folder.file("library.store"), key: newKey)
        #expect(try reopened.context.count(FetchRequest(reopened.entity("Book"))) == 3)
        #expect(throws: DatabaseError.wrongKey(path: folder.filePath("library.store"))) {
            try Library(folder.file("library.store"))
        }
    }

    @Test func `another container gets an error at its next fetch, fault and save`() throws {
        let other = try Library(folder.file("library.store"))
        let failures = Guarded(0)
        other.context.didFailToRead = { _ in failures.withLock { $0 += 1 } }
        let book = try #require(
            try other.context.fetch(FetchRequest(other.entity("Book")), as: ManagedObject.self).first
        )
        try store.changeKey(to: newKey)
        let moved = DatabaseError.moved(path: folder.filePath("library.store"))
        #expect(throws: moved) { try other.context.count(FetchRequest(other.entity("Book"))) }
        let author = book.destination(forRelationship: "author") as? ManagedObject
        #expect(author?["name"] != .text("Ursula"))
        #expect(failures.withLock { $0 } > 0)
        other.context.forgetReadFailures()
        book["title"] = .text("Changed")
        #expect(throws: moved) { try other.context.save() }
        #expect(try library.check() == [])
    }

    @Test func `a context that is pinned to a state loses it with the lock`() throws {
        let context = ManagedObjectContext(coordinator: library.coordinator)
        try context.setQueryGeneration(from: .current)
        _ = try fetchBooks(in: context)
        // An open state would prevent the change.
        store.lock()
        try store.unlock(with: Library.key)
        try store.changeKey(to: newKey)
        #expect(throws: DatabaseError.closed) { try fetchBooks(in: context) }
    }

    @Test func `a read-only store keeps its key`() throws {
        let reader = try Library(folder.file("library.store"), isReadOnly: true)
        let error = #expect(throws: ObjectGraphError.self) {
            try reader.coordinator.sealedStores.first?.changeKey(to: newKey)
        }
        #expect(error.map { "\($0)" } == "\(ObjectGraphError.storeIsReadOnly)")
    }
}
