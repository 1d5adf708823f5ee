import EncryptedSQLite
import SealedData
import TestSupport
import Testing

@Suite("Containers are backed up, compacted, checked and salvaged") struct ContainerMaintenanceTests {
    @Model
    final class Note {
        var text: String
        init(text: String) { self.text = text }
    }

    @Model
    final class Label {
        var name: String
        init(name: String) { self.name = name }
    }

    private let folder = TemporaryFolder()
    private static let key = EncryptionKey.passphrase("correct horse")

    private func container(_ name: String, key: EncryptionKey = Self.key) throws -> ModelContainer {
        try ModelContainer(for: Note.self, configurations: ModelConfiguration(url: folder.file(name), key: key))
    }

    private func texts(_ container: ModelContainer) throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.text)])).map(\.text)
    }

    @Test func `a backup opens as a container`() throws {
        let container = try container("notes.store")
        let context = ModelContext(container)
        context.insert(Note(text: "a"))
        try context.save()
        context.insert(Note(text: "unsaved"))
        try container.backUp(to: folder.file("backup.store"), key: .passphrase("other"))
        #expect(try texts(self.container("backup.store", key: .passphrase("other"))) == ["a"])
        #expect(throws: DatabaseError.self) { try container.backUp(to: folder.file("backup.store")) }
        try container.backUp(to: folder.file("backup.store"), replacesExisting: true)
        #expect(try texts(self.container("backup.store")) == ["a"])
    }

    @Test func `models stay valid while their store is compacted`() throws {
        let container = try container("notes.store")
        let context = ModelContext(container)
        let notes = (0..<500).map { Note(text: "note \($0) " + String(repeating: "x", count: 300)) }
        for note in notes { context.insert(note) }
        try context.save()
        for note in notes.dropFirst(10) { context.delete(note) }
        try context.save()
        #expect(try container.space().freeByteCount > 50_000)
        let space = try container.compact()
        #expect(space.after.byteCount <= space.before.byteCount - space.before.freeByteCount)
        #expect(space.after.freeByteCount == 0)
        notes[0].text = "changed"
        try context.save()
        #expect(try texts(container).contains("changed"))
        #expect(try container.check().isSound)
        #expect(try container.repair().repaired.isEmpty)
    }

    @Test func `a damaged file is salvaged with its identifiers`() throws {
        var container: ModelContainer? = try container("notes.store")
        let context = ModelContext(container!)
        for number in 0..<300 { context.insert(Note(text: "note \(number) " + String(repeating: "x", count: 300))) }
        try context.save()
        let identifiers = try Set(context.fetchIdentifiers(FetchDescriptor<Note>()))
        try container!.backUp(to: folder.file("damaged.store"))
        container = nil
        var bytes = try Data(contentsOf: folder.file("damaged.store"))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: folder.file("damaged.store"))
        let report = try ModelContainer.salvage(
            folder.file("damaged.store"),
            key: Self.key,
            to: folder.file("new.store")
        )
        #expect(report.damagedPageCount == 1 && report.check.isSound)
        let found = try ModelContext(self.container("new.store")).fetchIdentifiers(FetchDescriptor<Note>())
        #expect(Set(found).isSubset(of: identifiers) && found.count == report.entities[0].recoveredCount)
        #expect(found.count + report.entities[0].lostCount >= 300)
    }

    @Test func `a container of several stores needs the configuration`() throws {
        let notes = ModelConfiguration(schema: Schema([Note.self]), url: folder.file("notes.store"), key: Self.key)
        let labels = ModelConfiguration(
            "labels",
            schema: Schema([Label.self]),
            url: folder.file("labels.store"),
            key: Self.key
        )
        let container = try ModelContainer(for: Schema([Note.self, Label.self]), configurations: notes, labels)
        #expect(throws: StoreSelectionError.severalStores(2)) { try container.space() }
        try container.backUp(labels, to: folder.file("backup.store"))
        #expect(try container.check(notes).isSound)
        let other = ModelConfiguration(url: folder.file("other.store"), key: Self.key)
        #expect(throws: StoreSelectionError.noStore(configuration: other.name)) { try container.space(of: other) }
    }
}
