import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Ordered relationships whose members another process moves.
@Suite struct MovedMemberTests {
    private let folder = TemporaryFolder()

    /// A context of its own container, like that of another process.
    private func context() throws -> ManagedObjectContext {
        SealedStore.register()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Playlist",
                attributes: [AttributeDescription("name", .string)],
                relationships: [.init("tracks", to: "Track", .many, inverse: "playlist", isOrdered: true)]
            ),
            EntityDescription(
                "Track",
                attributes: [AttributeDescription("name", .string)],
                relationships: [.init("playlist", to: "Playlist", .one, inverse: "tracks")]
            ),
        ])
        let coordinator = PersistentStoreCoordinator(model: model)
        let options: [String: any Sendable] = [SealedStore.keyOption: Library.key]
        try coordinator.addPersistentStore(
            PersistentStoreDescription(type: SealedStore.storeType, url: folder.file("music.store"), options: options)
        )
        return ManagedObjectContext(coordinator: coordinator)
    }

    private func objects(_ entity: String, _ context: ManagedObjectContext) throws -> [ManagedObject] {
        try context.fetch(FetchRequest(context.model.entitiesByName[entity]!))
    }

    private func names(_ playlist: ManagedObject) -> [Value] {
        playlist.members(forRelationship: "tracks").map { ($0 as? ManagedObject)?["name"] ?? .null }
    }

    @Test func `a new order does not number members that have moved elsewhere`() throws {
        let first = try context()
        func make(_ entity: String, _ name: String) -> ManagedObject {
            let object = ManagedObject(entity: first.model.entitiesByName[entity]!, insertInto: first)
            object["name"] = .text(name)
            return object
        }
        let (one, two) = (make("Playlist", "one"), make("Playlist", "two"))
        let tracks = ["x", "a", "b", "c", "y"].map { make("Track", $0) }
        one.setMembers(Array(tracks[1...3]), forRelationship: "tracks")
        two.setMembers([tracks[0], tracks[4]], forRelationship: "tracks")
        try first.save()
        let second = try context()
        let (others, otherTracks) = (try objects("Playlist", second), try objects("Track", second))
        others[1].setMembers([otherTracks[2], otherTracks[0], otherTracks[4]], forRelationship: "tracks")
        try second.save()
        one.setMembers([tracks[3], tracks[2], tracks[1]], forRelationship: "tracks")
        try first.save()
        let reader = try context()
        let playlists = try objects("Playlist", reader)
        #expect(names(playlists[0]) == [.text("c"), .text("a")])
        #expect(names(playlists[1]) == [.text("b"), .text("x"), .text("y")])
        let store = try reader.coordinator.store(for: reader.model.entities[0]).store as? SealedStore
        #expect(try #require(store).check() == [])
    }
}
