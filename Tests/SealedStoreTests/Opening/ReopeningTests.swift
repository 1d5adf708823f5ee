import EncryptedSQLite
import Foundation
import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite struct ReopeningTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("library.store") }

    @Test func `objects and relationships survive reopening`() throws {
        do {
            let library = try Library(url)
            let author = library.insert("Author", ["name": .text("Sōseki")])
            let book = library.insert("Book", ["title": .text("Kokoro"), "pages": .integer(248)])
            let tag = library.insert("Tag", ["label": .text("novel")])
            book.setDestination(author, forRelationship: "author")
            book.setMembers([tag], forRelationship: "tags")
            try library.context.save()
            try library.coordinator.removeAllStores()
        }
        let library = try Library(url)
        let books = try library.context.fetch(FetchRequest(library.entity("Book")), as: ManagedObject.self)
        let book = try #require(books.first)
        #expect(book["title"] == .text("Kokoro"))
        #expect((book.destination(forRelationship: "author") as? ManagedObject)?["name"] == .text("Sōseki"))
        let tags = book.members(forRelationship: "tags").compactMap { $0 as? ManagedObject }
        #expect(tags.map { $0["label"] } == [.text("novel")])
        #expect(tags.first?.members(forRelationship: "books").first === book)
    }

    @Test func `a wrong passphrase is refused and leaves the file unchanged`() throws {
        let library = try Library(url)
        library.insert("Tag", ["label": .text("x")])
        try library.context.save()
        try library.coordinator.removeAllStores()
        let before = try Data(contentsOf: url)
        #expect(throws: DatabaseError.wrongKey(path: url.path)) { try Library(url, key: .passphrase("wrong")) }
        #expect(try Data(contentsOf: url) == before)
    }

    @Test func `a file of another model is refused with the differences if it must not be migrated`() throws {
        try Library(url).coordinator.removeAllStores()
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Author", attributes: [AttributeDescription("name", .int64)])
        ])
        let coordinator = PersistentStoreCoordinator(model: model)
        var description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            options: [SealedStore.keyOption: Library.key]
        )
        description.shouldMigrateStoreAutomatically = false
        let refused = description
        let error = #expect(throws: SealedStoreError.self) { try coordinator.addPersistentStore(refused) }
        guard case .modelMismatch(let differences) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(differences.contains("entity 'Book' is removed"))
        #expect(differences.contains("property 'Author.name' has another type"))
    }

    @Test func `a read-only store reads and refuses to save`() throws {
        let library = try Library(url)
        library.insert("Tag", ["label": .text("x")])
        try library.context.save()
        try library.coordinator.removeAllStores()
        let reader = try Library(url, isReadOnly: true)
        #expect(try reader.context.count(FetchRequest(reader.entity("Tag"))) == 1)
        reader.insert("Tag", ["label": .text("y")])
        let error = #expect(throws: ObjectGraphError.self) { try reader.context.save() }
        guard case .storeIsReadOnly = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }

    @Test func `a tool reads the model without the program`() throws {
        try Library(url).coordinator.removeAllStores()
        let model = try SealedStore.model(
            of: PersistentStoreDescription(
                type: SealedStore.storeType,
                url: url,
                options: [SealedStore.keyOption: Library.key]
            )
        )
        #expect(model.declarations == (try Library.model()).declarations)
    }

    @Test func `a primary key is not reused after its object was deleted and the store reopened`() throws {
        var keys: [Int64] = []
        for _ in 0..<3 {
            let library = try Library(url)
            let tag = library.insert("Tag", ["label": .text("x")])
            try library.context.save()
            keys.append(tag.managedObjectID.key)
            library.context.delete(tag)
            try library.context.save()
            try library.coordinator.removeAllStores()
        }
        #expect(Set(keys).count == 3, "\(keys)")
    }

    @Test func `no value reaches the disk as plaintext`() throws {
        let marker = "a marker that is looked for"
        let library = try Library(url)
        for _ in 0..<200 { library.insert("Tag", ["label": .text(marker)]) }
        try library.context.save()
        for file in try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil) {
            let content = try Data(contentsOf: file)
            #expect(content.range(of: Data(marker.utf8)) == nil, "\(file.lastPathComponent)")
            #expect(content.range(of: Data("CREATE TABLE".utf8)) == nil, "\(file.lastPathComponent)")
        }
    }
}
