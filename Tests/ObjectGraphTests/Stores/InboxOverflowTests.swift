import Guarded
@testable import ObjectGraph
import Testing

/// The saves of others that a context receives while it is not used.
@Suite struct InboxOverflowTests {
    private static let halfOfRows = ContextInbox.objectLimit / 2 + 1

    // MARK: The inbox

    private static func save(rows count: Int) -> Commit {
        var rows = RowBatchBuilder()
        for key in 1...count { rows.begin(key: Int64(key), version: 1, entity: 0, slotCount: 1) }
        var request = SaveChangesRequest()
        request.inserted = rows.finish()
        return Commit(request, nil, Fixtures.library)
    }

    /// Takes the commits of an inbox, and returns their origins.
    private static func take(_ inbox: ContextInbox) -> [String] {
        inbox.take().map { commit in
            switch commit.origin {
            case .save: "save"
            case .batch: "batch"
            case .others: "others"
            case .replacement: "replacement \(commit.unknownRoots.sorted())"
            case .erasure: "erasure"
            case .revert: "revert"
            case .overflow: "overflow"
            }
        }
    }

    /// The replacement of the file with the root entities at some positions.
    private static func replacement(_ roots: Int...) -> Commit {
        var commit = Commit(.replacement(isOpen: true))
        for root in roots { commit.addUnknown(Fixtures.library.entities[root]) }
        return commit
    }

    @Test func `the rows of several saves are released beyond the limit`() {
        let inbox = ContextInbox()
        weak var chunk: RowChunk?
        do {
            let first = Self.save(rows: ContextInbox.objectLimit)
            chunk = first.roots.values.first?.objects.values.first?.row?.chunk
            inbox.post(first)
        }
        #expect(chunk != nil)
        inbox.post(Self.save(rows: 1))
        #expect(chunk == nil)
        inbox.post(Self.save(rows: 1))
        #expect(Self.take(inbox) == ["overflow"])
        #expect(inbox.isEmpty)
    }

    @Test func `a single save stays, whatever its size`() {
        let inbox = ContextInbox()
        inbox.post(Self.save(rows: ContextInbox.objectLimit + 1))
        #expect(Self.take(inbox) == ["save"])
        inbox.post(Self.save(rows: ContextInbox.objectLimit - 1))
        inbox.post(Self.save(rows: 1))
        #expect(Self.take(inbox) == ["save", "save"], "the rows of earlier commits do not count")
    }

    @Test func `the number of commits is limited`() {
        let inbox = ContextInbox()
        for _ in 0...ContextInbox.commitLimit { inbox.post(Self.save(rows: 1)) }
        #expect(Self.take(inbox) == ["overflow"])
    }

    @Test func `an erasure stays`() {
        let inbox = ContextInbox()
        inbox.post(Self.save(rows: 1))
        inbox.post(.unknown(.erasure))
        inbox.post(Self.save(rows: ContextInbox.objectLimit))
        inbox.post(.unknown(.revert))
        inbox.post(.unknown(.erasure))
        #expect(Self.take(inbox) == ["erasure", "overflow", "erasure"])
    }

    @Test func `the replacements of files stay as one commit`() {
        let inbox = ContextInbox()
        inbox.post(Self.replacement(0))
        inbox.post(Self.replacement(2))
        inbox.post(Self.save(rows: 1))
        inbox.post(Self.replacement(0))
        inbox.post(Self.save(rows: ContextInbox.objectLimit))
        #expect(Self.take(inbox) == ["replacement [0, 2]", "overflow"])
    }

    @Test func `commits of other processes are limited as one commit`() throws {
        let entity = try #require(Fixtures.library.entitiesByName["Book"])
        let inbox = ContextInbox()
        var large = Commit(.others)
        for key in 1...ContextInbox.objectLimit { large.add(.init(.updated), of: Int64(key), entity: entity) }
        inbox.post(large)
        var small = Commit(.others)
        small.add(.init(.updated), of: 1, entity: entity)
        inbox.post(small)
        #expect(Self.take(inbox) == ["others"])
        inbox.post(large)
        small.add(.init(.updated), of: Int64(ContextInbox.objectLimit) + 1, entity: entity)
        inbox.post(small)
        #expect(Self.take(inbox) == ["overflow"])
    }

    @Test func `the callback is called for the first commit, and after each time they are taken`() {
        let inbox = ContextInbox()
        let calls = Guarded(0)
        inbox.onRemoteChange = { calls.withLock { $0 += 1 } }
        for _ in 0..<3 { inbox.post(Self.save(rows: Self.halfOfRows)) }
        #expect(calls.withLock { $0 } == 1)
        _ = inbox.take()
        inbox.post(Self.save(rows: 1))
        #expect(calls.withLock { $0 } == 2)
    }

    // MARK: Contexts

    /// Saves more rows than an inbox keeps.
    private static func overflow(_ context: ManagedObjectContext, afterEach body: () -> Void = {}) throws {
        for _ in 0..<2 {
            for _ in 0..<halfOfRows { context.make("Tag") }
            try context.save()
            body()
        }
    }

    // idle context                 | another context
    // deletes one, changes one     |
    //                              | changes, deletes, saves; saves many rows
    // merges, saves                |
    @Test(arguments: StoreKind.allCases)
    func `unchanged objects are read again, and deleted ones are deleted`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let writer = store.context()
        let names = ["changed", "deleted", "fault", "deleted by both", "changed by both"]
        let authors = names.map { writer.make("Author", ["name": .text($0)]) }
        for _ in 0..<2 { authors[0].addMember(writer.make("Book"), forRelationship: "books") }
        try writer.save()
        let ids = authors.map(\.managedObjectID)

        let idle = store.context()
        let fault = idle.object(with: ids[2])
        let changed = try idle.counterpart(of: authors[0])
        let deleted = try idle.counterpart(of: authors[1])
        let deletedByBoth = try idle.counterpart(of: authors[3])
        let changedByBoth = try idle.counterpart(of: authors[4])
        #expect(changed[many: "books"].count == 2)
        let calls = Guarded(0)
        idle.onRemoteChange = { calls.withLock { $0 += 1 } }
        idle.delete(deletedByBoth)
        changedByBoth["name"] = "mine"

        authors[0]["name"] = "new"
        authors[0].addMember(writer.make("Book"), forRelationship: "books")
        for author in authors[1...3] { writer.delete(author) }
        authors[4]["born"] = 1
        try writer.save()
        try Self.overflow(writer)
        #expect(calls.withLock { $0 } == 1)

        idle.processPendingChanges()
        #expect(changed["name"] == "new")
        #expect(changed[many: "books"].count == 3)
        #expect(deleted.isObjectDeleted)
        #expect(deleted["name"] == "deleted")
        #expect(idle.registeredObject(for: ids[1]) == nil)
        #expect(fault.isObjectDeleted)
        #expect(deletedByBoth.isObjectDeleted)
        #expect(idle.deletedObjects.isEmpty)
        #expect(changedByBoth["name"] == "mine")
        #expect(throws: ObjectGraphError.self) { try idle.save() }
        idle.mergePolicy = .mergeByPropertyObjectTrump
        try idle.save()
        let saved = try store.context().counterpart(of: authors[4])
        #expect(saved["name"] == "mine" && saved["born"] == 1)
        writer.make("Tag")
        try writer.save()
        #expect(calls.withLock { $0 } == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `live results are current`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let writer = store.context()
        let authors = ["a", "b", "c"].map { writer.make("Author", ["name": .text($0)]) }
        try writer.save()
        let idle = store.context()
        let name = QueryExpression.path(try #require(store.model.entitiesByName["Author"]?.propertiesByName["name"]))
        let followed = try FollowedResults(idle.request("Author", sortedBy: [QuerySort(name)]), in: idle)
        authors[0]["name"] = "z"
        authors[2]["born"] = 1
        writer.delete(authors[1])
        writer.make("Author", ["name": "y"])
        try writer.save()
        try Self.overflow(writer)
        idle.processPendingChanges()
        #expect(followed.objects.texts("name") == ["c", "y", "z"])
        #expect(followed.updates.contains { !$0.modifications.isEmpty })
        try followed.expectCurrent("after the overflow")
    }

    // idle context   | another context
    //                | deletes, saves
    // merges         |
    //                | undoes the deletion, saves
    //                |                             many rows are saved
    // merges         |
    @Test(arguments: StoreKind.allCases)
    func `an object whose deletion was undone returns`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let writer = store.context()
        let author = writer.make("Author", ["name": "a"])
        try writer.save()
        let idle = store.context()
        let held = try idle.counterpart(of: author)
        writer.undoManager = UndoManager()
        writer.delete(author)
        try writer.save()
        idle.processPendingChanges()
        #expect(held.isObjectDeleted)
        writer.undo()
        try writer.save()
        try Self.overflow(store.context())
        idle.processPendingChanges()
        #expect(!held.isObjectDeleted)
        #expect(held["name"] == "a")
    }

    @Test(arguments: StoreKind.allCases)
    func `an erasure drops unsaved changes`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let writer = store.context()
        let author = writer.make("Author", ["name": "a"])
        try writer.save()
        let idle = store.context()
        let held = try idle.counterpart(of: author)
        held["name"] = "mine"
        try store.coordinator.eraseStores()
        try Self.overflow(writer)
        idle.processPendingChanges()
        #expect(held.isObjectDeleted)
        #expect(!idle.hasChanges)
        #expect(try idle.count(idle.request("Tag")) == 2 * Self.halfOfRows)
    }

    @Test(arguments: StoreKind.allCases)
    func `the objects of an idle child are read again`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let parent = store.context()
        let authors = ["a", "b"].map { parent.make("Author", ["name": .text($0)]) }
        try parent.save()
        let child = ManagedObjectContext(parent: parent)
        let changed = try child.counterpart(of: authors[0])
        let deleted = try child.counterpart(of: authors[1])
        let writer = store.context()
        try writer.counterpart(of: authors[0])["name"] = "new"
        writer.delete(try writer.counterpart(of: authors[1]))
        try writer.save()
        // The parent passes on the saves that it merges.
        try Self.overflow(writer, afterEach: parent.processPendingChanges)
        child.processPendingChanges()
        #expect(changed["name"] == "new")
        #expect(deleted.isObjectDeleted)
    }

    // idle child     | parent   | another context
    //                |          | deletes, saves
    // merges         | merges   |
    //                |          | undoes the deletion, saves
    //                | merges   | many rows are saved
    // merges         |          |
    @Test(arguments: StoreKind.allCases)
    func `an object whose deletion was undone returns to an idle child`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let writer = store.context()
        let author = writer.make("Author", ["name": "a"])
        try writer.save()
        let parent = store.context()
        let child = ManagedObjectContext(parent: parent)
        let held = try child.counterpart(of: author)
        writer.undoManager = UndoManager()
        writer.delete(author)
        try writer.save()
        parent.processPendingChanges()
        child.processPendingChanges()
        #expect(held.isObjectDeleted)
        writer.undo()
        try writer.save()
        parent.processPendingChanges()
        try Self.overflow(store.context(), afterEach: parent.processPendingChanges)
        child.processPendingChanges()
        #expect(!held.isObjectDeleted)
        #expect(held["name"] == "a")
    }
}
