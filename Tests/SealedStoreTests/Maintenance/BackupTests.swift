import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite("Backups and compact copies of stores") struct BackupTests {
    private let folder = TemporaryFolder()

    private func library(_ count: Int, in url: URL?) throws -> Library {
        let library = try Library(url)
        for number in 0..<count {
            library.insert("Tag", ["label": .text("\(number) " + String(repeating: "x", count: 500))])
        }
        let author = library.insert("Author", ["name": .text("Sōseki")])
        let book = library.insert("Book", ["title": .text("Kokoro")])
        book.setDestination(author, forRelationship: "author")
        try library.context.save()
        return library
    }

    private func store(_ library: Library) throws -> SealedStore { try #require(try library.store() as? SealedStore) }

    @Test func `a backup is a separate sound store under another key`() throws {
        let library = try library(200, in: folder.file("library.store"))
        let url = folder.file("backup.store")
        let key = EncryptionKey.passphrase("another passphrase")
        let progress = Progress(totalUnitCount: 1)
        try store(library).backUp(to: url, key: key, progress: progress)
        #expect(progress.isFinished)
        library.insert("Tag", ["label": .text("later")])
        try library.context.save()
        let copy = try Library(url, key: key)
        #expect(try copy.context.count(FetchRequest(copy.entity("Tag"))) == 200)
        #expect(try copy.keys("Book", nil) == library.keys("Book", nil))
        #expect(try copy.store().metadata.uuid == library.store().metadata.uuid)
        #expect(try copy.check() == [])
        #expect(throws: DatabaseError.wrongKey(path: url.path)) { try Library(url) }
    }

    @Test func `a store in memory is backed up to a file with a key`() throws {
        let library = try library(20, in: nil)
        let url = folder.file("backup.store")
        #expect(throws: DatabaseError.missingKey(path: url.path)) { try store(library).backUp(to: url) }
        try store(library).backUp(to: url, key: Library.key)
        let copy = try Library(url)
        #expect(try copy.context.count(FetchRequest(copy.entity("Tag"))) == 20)
        #expect(try copy.check() == [])
        library.insert("Tag", ["label": .text("later")])
        try library.context.save()
    }

    @Test func `a store in memory with full-text indexes is backed up`() throws {
        SealedStore.register()
        let coordinator = PersistentStoreCoordinator(model: try Archive.model())
        try coordinator.addPersistentStore(PersistentStoreDescription(type: SealedStore.storeType, url: nil))
        let context = ManagedObjectContext(coordinator: coordinator)
        let article = ManagedObject(entity: coordinator.model.entitiesByName["Article"]!, insertInto: context)
        article["title"] = .text("On cats")
        article["year"] = .integer(1905)
        try context.save()
        let memory = try #require(try coordinator.store(for: article.managedObjectID.entity).store as? SealedStore)
        try memory.backUp(to: folder.file("archive.store"), key: Library.key)
        let copy = try Library(folder.file("archive.store"), model: Archive.model())
        #expect(try copy.check() == [])
        #expect(try copy.integers("SELECT count(*) FROM \"_fulltext_Article_title_body\" WHERE c0 MATCH 'cats'") == [1])
    }

    @Test func `a compact copy has no free pages and the same keys`() throws {
        let library = try library(600, in: folder.file("library.store"))
        for tag in try library.context.fetch(FetchRequest(library.entity("Tag")), as: ManagedObject.self)
        where tag.managedObjectID.key % 3 > 0 { library.context.delete(tag) }
        try library.context.save()
        let before = try store(library).space()
        #expect(before.freeByteCount > before.byteCount / 4)
        let url = folder.file("compact.store")
        try store(library).compact(into: url)
        let copy = try Library(url)
        let after = try #require(try copy.store() as? SealedStore).space()
        #expect(after.freeByteCount == 0 && after.byteCount <= before.byteCount - before.freeByteCount)
        #expect(try copy.keys("Tag", nil) == library.keys("Tag", nil))
        #expect(try copy.check() == [])
        // The sequence continues behind deleted keys.
        let tag = copy.insert("Tag", ["label": .text("new")])
        try copy.context.save()
        #expect(tag.managedObjectID.key > 600)
    }
}
