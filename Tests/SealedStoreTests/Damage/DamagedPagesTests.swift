import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Each page of a small store is damaged in turn: each request then returns the right result or fails with `damaged`.
@Suite struct DamagedPagesTests {
    private static let pageByteCount = 4096
    private static let titles = ["first", "second", "third"]
    /// The values of 9,000 bytes have two overflow pages.
    private static let text = String(repeating: "0123456789abcdefghijklmnopqrst", count: 300)
    private static let image = Data((0..<9000).map { UInt8(truncatingIfNeeded: $0 &* 31 | 1) })

    private let folder = TemporaryFolder()
    private let file: URL

    init() throws {
        file = folder.file("albums.store")
        let opened = try Opened(file)
        let album = ManagedObject(entity: opened.album, insertInto: opened.context)
        album["name"] = .text("album")
        for title in Self.titles {
            let photo = ManagedObject(entity: opened.photo, insertInto: opened.context)
            photo["text"] = .text(Self.text)
            photo["title"] = .text(title)
            photo["image"] = .blob(Self.image)
            photo.setDestination(album, forRelationship: "album")
        }
        try opened.context.save()
        try opened.coordinator.removeAllStores()
    }

    /// A reopened store of albums and photos.
    private struct Opened {
        let coordinator: PersistentStoreCoordinator
        let context: ManagedObjectContext
        let store: SealedStore
        let album: Entity
        let photo: Entity

        init(_ file: URL) throws {
            SealedStore.register()
            let model = try ManagedObjectModel(entities: [
                EntityDescription(
                    "Album",
                    attributes: [.init("name", .string)],
                    relationships: [.init("photos", to: "Photo", .many, inverse: "album")]
                ),
                // The column of the title lies behind that of the text.
                EntityDescription(
                    "Photo",
                    attributes: [
                        .init("text", .string), .init("title", .string),
                        .init("image", .data, isOptional: true, allowsExternalStorage: true),
                    ],
                    relationships: [.init("album", to: "Album", .one, inverse: "photos")]
                ),
            ])
            album = model.entitiesByName["Album"]!
            photo = model.entitiesByName["Photo"]!
            coordinator = PersistentStoreCoordinator(model: model)
            context = ManagedObjectContext(coordinator: coordinator)
            let key = try EncryptionKey.raw((0..<32).map { UInt8($0) }, salt: (0..<16).map { UInt8($0) })
            try coordinator.addPersistentStore(
                PersistentStoreDescription(
                    type: SealedStore.storeType,
                    url: file,
                    options: [SealedStore.keyOption: key]
                )
            )
            store = try #require(try coordinator.store(for: photo).store as? SealedStore)
        }

        func photos(titled title: String? = nil) throws -> [ManagedObject] {
            let property = try #require(photo.propertiesByName["title"])
            let condition = title.map {
                QueryExpression.comparison(.equal, .path(from: 0, [property]), .literal(.text($0)))
            }
            return try context.fetch(FetchRequest(photo, predicate: condition))
        }
    }

    private enum Question: String, CaseIterable {
        case fetch, condition, count, members, lateBlob, save
    }

    /// Sends one request to the store and compares its result. Errors are rethrown.
    private func ask(_ question: Question, _ comment: Comment) throws {
        let opened = try Opened(file)
        defer { try? opened.coordinator.removeAllStores() }
        switch question {
        case .fetch:
            let photos = try opened.photos()
            #expect(photos.map { $0["title"] } == Self.titles.map { .text($0) }, comment)
            #expect(photos.allSatisfy { $0["text"] == .text(Self.text) }, comment)
        case .condition:
            #expect(try opened.photos(titled: "second").map { $0["title"] } == [.text("second")], comment)
        case .count:
            #expect(try opened.context.count(FetchRequest(opened.photo)) == Self.titles.count, comment)
        case .members:
            let album = try #require(try opened.context.fetch(FetchRequest(opened.album), as: ManagedObject.self).first)
            let photos = try #require(opened.album.relationship(named: "photos"))
            let rows = try opened.store.newValues(
                forRelationship: photos,
                forObjectsWith: [album.managedObjectID],
                with: RequestContext()
            )
            #expect(rows.members.count == Self.titles.count, comment)
        case .lateBlob:
            let slot = try #require(opened.photo.propertiesByName["image"]?.slot)
            let blobs = opened.store.opened.deferredBlobs
            #expect(try blobs.blob(at: slot, key: 2, entityIndex: opened.photo.index) == Self.image, comment)
        case .save:
            let photo = try #require(try opened.photos(titled: "second").first, comment)
            photo["title"] = .text("renamed")
            try opened.context.save()
            #expect(try opened.photos(titled: "renamed").map { $0["text"] } == [.text(Self.text)], comment)
        }
    }

    /// Returns false if the request fails, which is only right with an error that names the cause.
    private func isAnswered(_ question: Question, _ place: String, page: Int?) throws -> Bool {
        defer {
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        }
        do {
            try ask(question, "\(question.rawValue), \(place)")
            return true
        } catch let error as DatabaseError {
            switch error {
            case .damaged: break
            case .wrongKey where page == 1, .notADatabase where page == 1: break
            default: Issue.record("\(question.rawValue), \(place): \(error)")
            }
        } catch {
            Issue.record("\(question.rawValue), \(place): \(error)")
        }
        return false
    }

    @Test func `each page is damaged at several offsets`() throws {
        let content = try Data(contentsOf: file)
        for question in Question.allCases {
            #expect(try isAnswered(question, "the sound store", page: nil))
            try content.write(to: file)
            var refusals = 0
            for page in 1...content.count / Self.pageByteCount {
                for (offset, bit) in [(17, 0), (100, 3), (2048, 7), (4020, 1), (4095, 4)] {
                    var damaged = content
                    damaged[(page - 1) * Self.pageByteCount + offset] ^= 1 << bit
                    try damaged.write(to: file)
                    if try !isAnswered(question, "page \(page), byte \(offset)", page: page) { refusals += 1 }
                }
            }
            // At least the page of the schema, and one of the table.
            #expect(refusals >= 10, "\(question)")
            try content.write(to: file)
        }
    }

    @Test func `a truncated file`() throws {
        let content = try Data(contentsOf: file)
        for question in Question.allCases {
            for page in 1..<content.count / Self.pageByteCount {
                for extra in [0, 100] {
                    let count = page * Self.pageByteCount + extra
                    try content.prefix(count).write(to: file)
                    #expect(try !isAnswered(question, "\(count) bytes", page: page))
                }
            }
        }
    }
}
