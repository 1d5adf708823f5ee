import Foundation
import ObjectGraph
import SealedData
import Testing

/// A store in memory with a custom snapshot type and custom keys, which evaluates predicates itself.
private final class NoteStore: DataStore {
    @Model
    final class Note {
        @Attribute(.unique) var slug: String
        var body: String
        var revision = 0
        var parent: Note?
        @Relationship(inverse: \Note.parent) var children: [Note] = []

        init(_ slug: String, _ body: String = "") {
            self.slug = slug
            self.body = body
        }
    }

    struct Configuration: DataStoreConfiguration {
        typealias Store = NoteStore
        let name: String
        var schema: Schema?
        let log: Log

        static func == (left: Configuration, right: Configuration) -> Bool { left.name == right.name }
        func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    /// The calls that the store received.
    final class Log {
        var fetches: [String] = []
        var states: [String] = []
        var authors: [String?] = []
        /// The texts that the store substitutes for the texts of new snapshots.
        var corrections: [String: String] = [:]
        var records: [String: Snapshot] = [:]
        /// Whether the store cannot read.
        var isBroken = false
    }

    struct IsBroken: Error {}

    /// Only the child holds the relationship.
    struct Snapshot: DataStoreSnapshot {
        let persistentIdentifier: PersistentIdentifier
        var slug: String
        var body: String
        var revision: Int
        var parent: PersistentIdentifier?

        init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]) {
            let data = backingData as! any BackingData<Note>
            persistentIdentifier = data.persistentModelID!
            slug = data.getValue(forKey: \.slug)
            body = data.getValue(forKey: \.body)
            revision = data.getValue(forKey: \.revision)
            parent = data.getValue(forKey: \.parent)?.persistentModelID
        }

        private init(
            _ id: PersistentIdentifier,
            _ slug: String,
            _ body: String,
            _ revision: Int,
            _ parent: PersistentIdentifier?
        ) {
            persistentIdentifier = id
            self.slug = slug
            self.body = body
            self.revision = revision
            self.parent = parent
        }

        func copy(
            persistentIdentifier: PersistentIdentifier,
            remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
        ) -> Snapshot {
            Snapshot(persistentIdentifier, slug, body, revision, parent.map { remappedIdentifiers?[$0] ?? $0 })
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
            self.init(
                try container.decode(PersistentIdentifier.self, forKey: .persistentIdentifier),
                try container.decode(String.self, forKey: .modeledProperty("slug")),
                try container.decode(String.self, forKey: .modeledProperty("body")),
                try container.decode(Int.self, forKey: .modeledProperty("revision")),
                try container.decodeIfPresent(PersistentIdentifier.self, forKey: .modeledProperty("parent"))
            )
        }

        /// The text of a snapshot that cannot be encoded.
        static let unreadableText = "unreadable"

        func encode(to encoder: any Encoder) throws {
            if body == Self.unreadableText { throw IsBroken() }
            var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
            try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
            try container.encode(slug, forKey: .modeledProperty("slug"))
            try container.encode(body, forKey: .modeledProperty("body"))
            try container.encode(revision, forKey: .modeledProperty("revision"))
            try container.encode(parent, forKey: .modeledProperty("parent"))
        }
    }

    let identifier: String
    let schema: Schema
    let configuration: Configuration
    private var log: Log { configuration.log }

    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        identifier = configuration.name
        schema = configuration.schema!
    }

    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Snapshot> {
        log.fetches.append(request.descriptor.predicate == nil ? "all" : "filtered")
        if log.isBroken { throw IsBroken() }
        // The only supported order is that of the slugs.
        if !request.descriptor.sortBy.isEmpty,
            request.descriptor.sortBy as? [SortDescriptor<Note>] != [SortDescriptor(\.slug)]
        {
            throw DataStoreError.preferInMemorySort
        }
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        let all = log.records.values.sorted { $0.slug < $1.slug }
        return DataStoreFetchResult(
            descriptor: request.descriptor,
            fetchedSnapshots: Array(all.prefix(request.descriptor.fetchLimit ?? .max))
        )
    }

    func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot> {
        log.authors.append(request.editingState.author)
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            remapped[snapshot.persistentIdentifier] = try .identifier(
                for: identifier,
                entityName: "Note",
                primaryKey: snapshot.slug
            )
        }
        var reregistered: [PersistentIdentifier: Snapshot] = [:]
        for snapshot in request.inserted + request.updated {
            let id = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            var copy = snapshot.copy(persistentIdentifier: id, remappedIdentifiers: remapped)
            if let correction = log.corrections[copy.body] {
                copy.body = correction
                reregistered[id] = copy
            }
            log.records[copy.slug] = copy
        }
        for snapshot in request.deleted { log.records[snapshot.slug] = nil }
        return DataStoreSaveChangesResult(
            for: identifier,
            remappedIdentifiers: remapped,
            snapshotsToReregister: reregistered
        )
    }

    func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier],
        editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot] {
        log.fetches.append("cached")
        if log.isBroken { throw IsBroken() }
        let wanted = Set(persistentIdentifiers)
        let found = log.records.values.filter { wanted.contains($0.persistentIdentifier) }
        return Dictionary(uniqueKeysWithValues: found.map { ($0.persistentIdentifier, $0) })
    }

    func initializeState(for editingState: EditingState) { log.states.append("new \(editingState.id)") }

    func invalidateState(for editingState: EditingState) { log.states.append("gone \(editingState.id)") }
}

@Suite("A store with a custom snapshot type") struct CustomSnapshotTests {
    private typealias Note = NoteStore.Note

    private let log = NoteStore.Log()
    private let name = "notes-\(UUID().uuidString)"

    private func container() throws -> ModelContainer {
        try ModelContainer(for: Note.self, configurations: NoteStore.Configuration(name: name, log: log))
    }

    private func savedContext() throws -> ModelContext {
        let context = ModelContext(try container())
        let root = Note("root", "all")
        context.insert(root)
        for slug in ["c", "a", "b"] {
            let note = Note(slug, "text of \(slug)")
            note.parent = root
        }
        try context.save()
        return context
    }

    @Test func `its snapshots are read by their coding keys`() throws {
        _ = try savedContext()
        let context = ModelContext(try container())
        let notes = try context.fetch(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.slug)]))
        #expect(notes.map(\.slug) == ["a", "b", "c", "root"])
        #expect(notes[0].body == "text of a")
        #expect(notes[0].parent === notes[3])
    }

    @Test func `a relationship missing in a snapshot is read from the inverse`() throws {
        _ = try savedContext()
        let context = ModelContext(try container())
        let descriptor = FetchDescriptor<Note>(predicate: #Predicate { $0.slug == "root" })
        let root = try #require(try context.fetch(descriptor).first)
        #expect(Set(root.children.map(\.slug)) == ["a", "b", "c"])
    }

    @Test func `the store sorts by supported orders only`() throws {
        let context = try savedContext()
        log.fetches = []
        var descriptor = FetchDescriptor<Note>(sortBy: [SortDescriptor(\.slug)])
        descriptor.fetchLimit = 1
        descriptor.fetchOffset = 1
        #expect(try context.fetch(descriptor).map(\.slug) == ["b"])
        #expect(log.fetches == ["all"])
        descriptor.sortBy = [SortDescriptor(\.body)]
        #expect(try context.fetch(descriptor).map(\.slug) == ["a"])
        #expect(log.fetches == ["all", "all", "all"])
    }

    @Test func `a fault reads the cached snapshots first`() throws {
        let id = try #require(try savedContext().fetch(FetchDescriptor<Note>()).first).persistentModelID
        let context = ModelContext(try container())
        log.fetches = []
        let note = try #require(context.model(for: id) as? Note)
        #expect(!note.slug.isEmpty)
        #expect(log.fetches == ["cached"])
    }

    @Test func `models follow the values that the store substitutes`() throws {
        log.corrections = ["teh": "the"]
        let context = ModelContext(try container())
        let note = Note("n", "teh")
        context.insert(note)
        try context.save()
        _ = try context.fetchCount(FetchDescriptor<Note>())
        #expect(note.body == "the")
        #expect(!context.hasChanges)
    }

    @Test func `a substitute that cannot be read is a failed read, and not a failed save`() throws {
        log.corrections = ["teh": NoteStore.Snapshot.unreadableText, "fro": "for"]
        let context = ModelContext(try container())
        let notes = [Note("n", "teh"), Note("m", "fro")]
        for note in notes { context.insert(note) }
        try context.save()
        #expect(!context.hasChanges)
        #expect(log.records["n"]?.body == NoteStore.Snapshot.unreadableText)
        #expect(throws: (any Error).self) { try context.fetch(FetchDescriptor<Note>()) }
        log.records["n"]?.body = "the"
        context.forgetReadFailures()
        _ = try context.fetch(FetchDescriptor<Note>())
        #expect(notes.map(\.body) == ["the", "for"])
        notes[0].body = "changed"
        try context.save()
        #expect(log.records["n"]?.body == "changed")
    }

    @Test func `it receives the editing states of contexts and their author`() throws {
        let container = try container()
        var context: ModelContext? = ModelContext(container)
        let id = try #require(context?.editingState.id)
        #expect(log.states == ["new \(id)"])
        context?.author = "editor"
        context?.insert(Note("x"))
        try context?.save()
        #expect(log.authors == ["editor"])
        context = nil
        #expect(log.states == ["new \(id)", "gone \(id)"])
    }

    @Test func `an unsupported request is an error`() throws {
        #expect(throws: DataStoreError.unsupportedFeature) { try container().erase() }
    }

    @Test func `values that cannot be read while a save makes snapshots are not saved as empty`() throws {
        try savedContext().save()
        let context = ModelContext(try container())
        let note = try #require(
            try context.fetch(FetchDescriptor<Note>(predicate: #Predicate { $0.slug == "a" })).first
        )
        note.body = "changed"
        log.isBroken = true
        #expect(throws: ObjectGraphError.self) { try context.save() }
        log.isBroken = false
        let saved = try #require(log.records["a"])
        #expect(saved.parent != nil)
        #expect(saved.body == "text of a")
        #expect(context.hasChanges)
        context.forgetReadFailures()
        try context.save()
        #expect(log.records["a"]?.body == "changed")
        #expect(log.records["a"]?.parent == saved.parent)
    }
}
