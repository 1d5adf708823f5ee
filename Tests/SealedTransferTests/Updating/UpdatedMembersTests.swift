import Foundation
import ObjectGraph
import SealedStore
import TestSupport
import Testing

@testable import SealedTransfer

/// The members of relationships when an import updates objects of the store.
struct UpdatedMembersTests {
    private let folder = TemporaryFolder()

    /// Playlists and songs, in order on both sides.
    private static func music() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Playlist",
                attributes: [AttributeDescription("name", .string)],
                relationships: [
                    RelationshipDescription("songs", to: "Song", .many, inverse: "playlists", isOrdered: true)
                ],
                uniquenessConstraints: [["name"]]
            ),
            EntityDescription(
                "Song",
                attributes: [AttributeDescription("name", .string)],
                relationships: [
                    RelationshipDescription("playlists", to: "Playlist", .many, inverse: "songs", isOrdered: true)
                ],
                uniquenessConstraints: [["name"]]
            ),
        ])
    }

    /// Shelves with books in order.
    private static func library() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Shelf",
                attributes: [AttributeDescription("name", .string)],
                relationships: [RelationshipDescription("books", to: "Book", .many, inverse: "shelf", isOrdered: true)],
                uniquenessConstraints: [["name"]]
            ),
            EntityDescription(
                "Book",
                attributes: [AttributeDescription("name", .string)],
                relationships: [RelationshipDescription("shelf", to: "Shelf", .one, inverse: "books")],
                uniquenessConstraints: [["name"]]
            ),
        ])
    }

    private func target(_ model: ManagedObjectModel, _ unfitContent: ImportOptions.UnfitContent) -> StoreImport {
        var options = ImportOptions()
        options.existingObjects = .update
        options.unfitContent = unfitContent
        return StoreImport(into: folder.file("store"), key: Harbour.key, model: model, options: options)
    }

    @discardableResult
    private func run(
        _ lines: String,
        _ model: ManagedObjectModel,
        _ unfitContent: ImportOptions.UnfitContent = .refuse
    ) throws -> ImportReport {
        try Data(lines.utf8).write(to: folder.file("objects.jsonl"))
        return try target(model, unfitContent).importJSONLines(from: folder.file("objects.jsonl"))
    }

    /// The names of the members of each object of an entity, in a store that is checked.
    private func members(_ entity: String, _ relationship: String) throws -> [[Value?]] {
        let store = try TestStore(folder.file("store"))
        defer { try? store.close() }
        try store.check()
        return try store.objects(entity).map { object in
            object.members(forRelationship: relationship).map { ($0 as? ManagedObject)?["name"] }
        }
    }

    // MARK: Lists

    private func writePlaylist() throws {
        try run(
            """
            {"_entity":"Song","_id":"x","name":"X","playlists":["p"]}
            {"_entity":"Song","_id":"y","name":"Y","playlists":["p"]}
            {"_entity":"Playlist","_id":"p","name":"P","songs":["x","y"]}
            """,
            Self.music()
        )
    }

    @Test func `a list of one side keeps the order of the other side`() throws {
        try writePlaylist()
        try run(
            """
            {"_entity":"Playlist","_id":"p","name":"P"}
            {"_entity":"Song","name":"X","playlists":["p"]}
            """,
            Self.music()
        )
        #expect(try members("Playlist", "songs") == [[.text("X"), .text("Y")]])
        #expect(try members("Song", "playlists") == [[.text("P")], [.text("P")]])
    }

    @Test func `the lists of both sides of a many-to-many relationship complement each other`() throws {
        try writePlaylist()
        try run(
            """
            {"_entity":"Playlist","_id":"p","name":"P","songs":["y"]}
            {"_entity":"Song","_id":"y","name":"Y"}
            {"_entity":"Song","name":"X","playlists":["p"]}
            """,
            Self.music()
        )
        #expect(try members("Playlist", "songs") == [[.text("Y"), .text("X")]])
    }

    @Test func `a list of a relationship that is its own inverse removes the members that it lacks`() throws {
        let model = try Harbour.model()
        try run(
            """
            {"_entity":"Vessel","_id":"a","name":"A","consorts":["b","c"]}
            {"_entity":"Vessel","_id":"b","name":"B"}
            {"_entity":"Vessel","_id":"c","name":"C"}
            """,
            model
        )
        try run(
            """
            {"_entity":"Vessel","name":"A","consorts":["b"]}
            {"_entity":"Vessel","_id":"b","name":"B"}
            """,
            model
        )
        #expect(try members("Vessel", "consorts") == [[.text("B")], [.text("A")], []])
    }

    // MARK: Contradictions

    private static func lines(listing books: String) -> String {
        """
        {"_entity":"Shelf","_id":"s","name":"one","books":\(books)}
        {"_entity":"Book","_id":"a","name":"A"}
        {"_entity":"Book","_id":"b","name":"B","shelf":"s"}
        """
    }

    private func writeShelf() throws {
        try run(
            """
            {"_entity":"Shelf","_id":"s","name":"one","books":["a"]}
            {"_entity":"Book","_id":"a","name":"A"}
            """,
            Self.library()
        )
    }

    private static let contradiction = "the list lacks an object whose inverse leads to the owner"

    @Test(arguments: [(#"["a"]"#, ["A", "B"]), ("[]", ["B"]), ("null", ["B"])])
    func `a list that lacks an object which refers to the owner is refused or counted`(
        books: String,
        remaining: [String]
    ) throws {
        try writeShelf()
        let unfit = UnfitValues(entity: "Shelf", property: "books", reason: Self.contradiction, count: 1)
        #expect(throws: TransferError.unfitValues([unfit])) { try run(Self.lines(listing: books), Self.library()) }
        #expect(try members("Shelf", "books") == [[.text("A")]])
        let report = try run(Self.lines(listing: books), Self.library(), .omit)
        #expect(report.omitted == [unfit])
        let expected: [Value?] = remaining.map { .text($0) }
        #expect(try members("Shelf", "books") == [expected])
    }

    @Test func `an empty field of CSV does not remove the objects that refer to the owner`() throws {
        try writeShelf()
        try Data("_id,name,books\ns,one,\n".utf8).write(to: folder.file("Shelf.csv"))
        try Data("_id,name,shelf\na,A,s\nb,B,s\n".utf8).write(to: folder.file("Book.csv"))
        let files = ["Shelf": folder.file("Shelf.csv"), "Book": folder.file("Book.csv")]
        let unfit = UnfitValues(entity: "Shelf", property: "books", reason: Self.contradiction, count: 2)
        let target = try target(Self.library(), .refuse)
        #expect(throws: TransferError.unfitValues([unfit])) { try target.importCSV(from: files) }
        #expect(try members("Shelf", "books") == [[.text("A")]])
    }

    // MARK: Order

    @Test(arguments: [("A", "B"), ("B", "A")])
    func `a member whose reference changes becomes the last one of its new owner`(
        moved: String,
        remaining: String
    ) throws {
        try run(
            """
            {"_entity":"Shelf","name":"one","books":["a","b"]}
            {"_entity":"Shelf","name":"two","books":["c","d"]}
            {"_entity":"Book","_id":"a","name":"A"}
            {"_entity":"Book","_id":"b","name":"B"}
            {"_entity":"Book","_id":"c","name":"C"}
            {"_entity":"Book","_id":"d","name":"D"}
            """,
            Self.library()
        )
        try run(
            """
            {"_entity":"Shelf","_id":"t","name":"two"}
            {"_entity":"Book","name":"\(moved)","shelf":"t"}
            """,
            Self.library()
        )
        let expected: [[Value?]] = [[.text(remaining)], [.text("C"), .text("D"), .text(moved)]]
        #expect(try members("Shelf", "books") == expected)
    }

    // MARK: History

    /// Imports lines into a store with a playlist, and returns the recorded changes.
    private func changes(importing lines: String) throws -> [PersistentHistoryChange] {
        SealedStore.register()
        let model = try Self.music()
        func open() throws -> PersistentStoreCoordinator {
            let coordinator = PersistentStoreCoordinator(model: model)
            let options: [String: any Sendable] = [
                SealedStore.keyOption: Harbour.key,
                SealedStore.historyOption: HistoryOptions(recordsValues: true),
            ]
            try coordinator.addPersistentStore(
                PersistentStoreDescription(type: SealedStore.storeType, url: folder.file("store"), options: options)
            )
            return coordinator
        }
        try open().removeAllStores()
        try writePlaylist()
        let before = try open()
        let last = try before.historyState().lastTransaction
        try before.removeAllStores()
        try run(lines, model)
        let after = try open()
        defer { try? after.removeAllStores() }
        return try after.history(HistoryFetchRequest(after: last)).flatMap(\.changes)
    }

    private func change(
        of entity: String,
        _ key: Int64,
        in changes: [PersistentHistoryChange]
    ) throws -> PersistentHistoryChange {
        try #require(changes.first { $0.objectID.entity.name == entity && $0.objectID.key == key })
    }

    /// The key of an object.
    private func key(_ entity: String, _ name: String) throws -> Int64 {
        let store = try TestStore(folder.file("store"))
        defer { try? store.close() }
        return try #require(try store.objects(entity).first { $0["name"] == .text(name) }).managedObjectID.key
    }

    @Test func `the history has the members that an update adds and removes`() throws {
        let changes = try changes(
            importing: """
                {"_entity":"Song","_id":"y","name":"Y"}
                {"_entity":"Song","_id":"z","name":"Z"}
                {"_entity":"Playlist","name":"P","songs":["y","z"]}
                """
        )
        let (x, y, z) = (try key("Song", "X"), try key("Song", "Y"), try key("Song", "Z"))
        let p = try key("Playlist", "P")
        let songs = try change(of: "Playlist", p, in: changes).values.members["songs"]
        #expect(songs == PersistentHistoryChange.Members(added: [z], removed: [x], order: nil))
        let playlists = try change(of: "Song", x, in: changes).values.members["playlists"]
        #expect(playlists == PersistentHistoryChange.Members(added: [], removed: [p], order: nil))
        #expect(!changes.contains { $0.objectID.key == y && $0.objectID.entity.name == "Song" }, "nothing has changed")
    }

    @Test func `a list with the same members in the same order is no change`() throws {
        let changes = try changes(
            importing: """
                {"_entity":"Song","_id":"x","name":"X"}
                {"_entity":"Song","_id":"y","name":"Y"}
                {"_entity":"Playlist","name":"P","songs":["x","y"]}
                """
        )
        #expect(changes.isEmpty)
    }
}
