import Foundation
import ObjectGraph
import SealedData
import TestSupport
import Testing

/// Two containers of one process on one file, as in two processes.
///
/// No saves are announced between them: a context merges the saves of the other container when it fetches or saves.
@Suite struct TwoContainersTests {
    @Model
    final class Shelf {
        @Attribute(.unique) var name: String
        var place = ""
        @Relationship(deleteRule: .cascade, inverse: \Volume.shelf) var volumes: [Volume] = []

        init(name: String) { self.name = name }
    }

    @Model
    final class Volume {
        var title: String
        var pages = 0
        var isLent = false
        var shelf: Shelf?
        @Relationship(inverse: \Reader.volumes) var readers: [Reader] = []

        init(title: String) { self.title = title }
    }

    @Model
    final class Reader {
        var name: String
        var volumes: [Volume] = []

        init(name: String) { self.name = name }
    }

    private let folder = TemporaryFolder()
    private let first: ModelContext
    private let second: ModelContext

    /// Both contexts hold a shelf, a volume on it and its reader.
    init() throws {
        first = ModelContext(try Self.container(folder))
        second = ModelContext(try Self.container(folder))
        let shelf = Shelf(name: "a")
        let volume = Volume(title: "one")
        volume.readers = [Reader(name: "Ann")]
        shelf.volumes = [volume]
        first.insert(shelf)
        try first.save()
    }

    private static func container(_ folder: TemporaryFolder) throws -> ModelContainer {
        try ModelContainer(
            for: Shelf.self,
            configurations: ModelConfiguration(url: folder.file("shelves.store"), key: .ofTests)
        )
    }

    private func shelf(_ context: ModelContext) throws -> Shelf {
        try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
    }

    private func volume(_ context: ModelContext) throws -> Volume {
        try #require(try context.fetch(FetchDescriptor<Volume>()).first)
    }

    /// Checks the store, and compares the results of a third container.
    private func saved() throws -> ModelContext {
        let context = ModelContext(try Self.container(folder))
        #expect(try context.storeProblems() == [])
        return context
    }

    // MARK: Reading

    @Test func `a fetch merges the saves of the other container, and notifies observers`() throws {
        let own = try volume(first)
        _ = (own.pages, own.shelf?.name, own.readers.count)
        try volume(second).pages = 5
        try second.save()
        let count = try notifications {
            own.pages
        } _: {
            _ = try first.fetch(FetchDescriptor<Volume>())
        }
        #expect(own.pages == 5)
        #expect(count == 1)
    }

    @Test func `a pending change is kept when a fetch merges the saves of the other container`() throws {
        let own = try volume(first)
        own.pages = 7
        let other = try volume(second)
        other.pages = 5
        other.isLent = true
        try second.save()
        _ = try first.fetch(FetchDescriptor<Volume>())
        #expect(own.pages == 7)
        try first.save()
        let result = try volume(try saved())
        #expect(result.pages == 7)
        #expect(result.isLent)
    }

    @Test(arguments: [false, true])
    func `changes of different properties are both kept, with and without a fetch in between`(fetches: Bool) throws {
        let own = try volume(first)
        let other = try volume(second)
        own.pages = 3
        other.isLent = true
        try first.save()
        if fetches { _ = try second.fetch(FetchDescriptor<Volume>()) }
        try second.save()
        let result = try volume(try saved())
        #expect(result.pages == 3 && result.isLent)
    }

    // MARK: Unique values

    @Test func `a new object with a unique value saved by the other container becomes an update`() throws {
        for (context, place) in [(first, "north"), (second, "south")] {
            let shelf = Shelf(name: "b")
            shelf.place = place
            context.insert(shelf)
        }
        try first.save()
        try second.save()
        let shelves = try saved().fetch(FetchDescriptor<Shelf>(sortBy: [SortDescriptor(\.name)]))
        #expect(shelves.map(\.name) == ["a", "b"])
        #expect(shelves.map(\.place) == ["", "south"])
    }

    @Test func `a unique value that the other container changed is free`() throws {
        try shelf(first).name = "renamed"
        try first.save()
        second.insert(Shelf(name: "a"))
        try second.save()
        #expect(try saved().fetch(FetchDescriptor<Shelf>()).map(\.name).sorted() == ["a", "renamed"])
    }

    // MARK: Deletions

    @Test func `both containers delete one object`() throws {
        first.delete(try volume(first))
        second.delete(try volume(second))
        try first.save()
        try second.save()
        #expect(try saved().fetchCount(FetchDescriptor<Volume>()) == 0)
    }

    @Test(arguments: [false, true])
    func `adding a reference to an object that the other container deletes leaves no dangling key`(
        deletesFirst: Bool
    ) throws {
        let own = try shelf(first)
        let other = try shelf(second)
        _ = (own.volumes.map(\.title), other.volumes.map(\.title))
        first.delete(own)
        let new = Volume(title: "two")
        second.insert(new)
        new.shelf = other
        for context in deletesFirst ? [first, second] : [second, first] {
            // The save may succeed or not, by the policy: the store must be consistent.
            do { try context.save() } catch is ObjectGraphError { context.rollback() }
        }
        let context = try saved()
        let shelves = try context.fetch(FetchDescriptor<Shelf>())
        for volume in try context.fetch(FetchDescriptor<Volume>()) {
            #expect(volume.shelf == nil || shelves.contains { $0 === volume.shelf })
        }
    }

    @Test func `a cascade removes links that the other container adds`() throws {
        let own = try shelf(first)
        _ = own.volumes.map(\.readers)
        let bea = Reader(name: "Bea")
        second.insert(bea)
        bea.volumes = [try volume(second)]
        try second.save()
        first.delete(own)
        do { try first.save() } catch is ObjectGraphError { first.rollback() }
        let context = try saved()
        let count = try context.fetchCount(FetchDescriptor<Volume>())
        for reader in try context.fetch(FetchDescriptor<Reader>()) { #expect(reader.volumes.count == count) }
    }
}
