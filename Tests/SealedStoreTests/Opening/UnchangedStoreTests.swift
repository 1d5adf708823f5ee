import EncryptedSQLite
import Foundation
import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// A refused file stays unchanged, together with the log of an earlier process.
@Suite struct UnchangedStoreTests {
    private let folder = TemporaryFolder()
    private let originals = TemporaryFolder()
    private var url: URL { folder.file("library.store") }

    private func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
            contents[name] = try Data(contentsOf: folder.file(name))
        }
        return contents
    }

    /// Copies an open database, with its log or without.
    private func copy(_ original: URL, withLog: Bool) throws {
        for suffix in withLog ? ["", "-wal"] : [""] {
            try FileManager.default.copyItem(atPath: original.path + suffix, toPath: url.path + suffix)
        }
    }

    private func description(isReadOnly: Bool = false) -> PersistentStoreDescription {
        PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            isReadOnly: isReadOnly,
            options: [SealedStore.keyOption: Library.key]
        )
    }

    @Test(arguments: [false, true], [false, true])
    func `a database without a store`(_ withLog: Bool, _ isReadOnly: Bool) throws {
        let original = originals.file("library.store")
        let options = Database.Options(
            applicationID: StoreFile.applicationID,
            newestUserVersion: Int32(StoreFormat.newest)
        )
        try Database(.file(original.path), key: Library.key, options: options).close()
        let database = try Database(.file(original.path), key: Library.key, options: options)
        try database.write { try $0.execute("CREATE TABLE other (value INTEGER) STRICT") }
        try copy(original, withLog: withLog)
        let before = try contents()
        #expect(throws: SealedStoreError.notAStore) { try Library(url, isReadOnly: isReadOnly) }
        #expect(try contents() == before)
        #expect(throws: SealedStoreError.notAStore) { try SealedStore.model(of: description(isReadOnly: isReadOnly)) }
        #expect(try contents() == before)
        #expect(SealedStoreError.notAStore.description.contains("is not a store"))
    }

    @Test(arguments: [false, true], [false, true])
    func `a store of another model`(_ withLog: Bool, _ isReadOnly: Bool) throws {
        let original = originals.file("library.store")
        try Library(original).coordinator.removeAllStores()
        let library = try Library(original)
        library.insert("Tag", ["label": .text("x")])
        try library.context.save()
        try copy(original, withLog: withLog)
        let before = try contents()
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Tag", attributes: [AttributeDescription("label", .int64)])
        ])
        // Without the log the store is empty, and can be migrated.
        guard withLog || isReadOnly else { return }
        let error = #expect(throws: SealedStoreError.self) { try Library(url, isReadOnly: isReadOnly, model: model) }
        switch error {
        case .cannotMigrate where !isReadOnly, .modelMismatch where isReadOnly: break
        default: Issue.record("another error: \(String(describing: error))")
        }
        #expect(try contents() == before)
        #expect(
            try Library(url).opened().database.read {
                try $0.withStatement(#"SELECT count(*) FROM "Tag""#) {
                    try $0.step() ? $0.integer(at: 0) : nil
                }
            } == (withLog ? 1 : 0)
        )
    }

    @Test func `the log that a removed store left is not applied to a new one`() throws {
        let original = originals.file("library.store")
        let library = try Library(original)
        for number in 0..<100 { library.insert("Tag", ["label": .text("tag \(number)")]) }
        try library.context.save()
        try copy(original, withLog: true)
        try FileManager.default.removeItem(at: url)
        let new = try Library(url)
        #expect(try new.context.count(FetchRequest(new.entity("Tag"))) == 0)
        new.insert("Tag", ["label": .text("new")])
        try new.context.save()
        try new.coordinator.removeAllStores()
        let reopened = try Library(url)
        #expect(try reopened.context.count(FetchRequest(reopened.entity("Tag"))) == 1)
        let store = try #require(try reopened.store() as? SealedStore)
        #expect(try store.check().isEmpty)
    }
}
