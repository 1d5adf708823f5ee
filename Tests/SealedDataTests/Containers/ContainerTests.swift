import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedData
import TestSupport
import Testing

@Suite("Opening containers", .serialized) struct ContainerTests {
    @Model
    final class Note {
        var text: String
        init(text: String) { self.text = text }
    }

    @Model
    final class Secret {
        @Attribute(.unique) var name: String
        init(name: String) { self.name = name }
    }

    private let folder = TemporaryFolder()

    private func container(_ name: String = "notes.store", key: EncryptionKey?, allowsSave: Bool = true) throws
        -> ModelContainer
    {
        try ModelContainer(
            for: Note.self,
            configurations: ModelConfiguration(url: folder.file(name), allowsSave: allowsSave, key: key)
        )
    }

    private func save(_ texts: String..., in container: ModelContainer) throws {
        let context = ModelContext(container)
        for text in texts { context.insert(Note(text: text)) }
        try context.save()
    }

    private func texts(_ container: ModelContainer) throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.text)])).map(\.text)
    }

    @Test func `a file without a key is neither opened nor created`() throws {
        let error = #expect(throws: SwiftDataError.loadIssueModelContainer) { try container(key: nil) }
        guard case DatabaseError.missingKey? = error?.underlyingError else {
            Issue.record("the error is \(String(describing: error))"); return
        }
        #expect("\(error!)".contains("provider"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("notes.store").path))
    }

    @Test func `the provider supplies the key of configurations without one`() throws {
        defer { EncryptionKey.provider = nil }
        EncryptionKey.provider = { .passphrase("for \($0.name)") }
        try save("a", in: container(key: nil))
        EncryptionKey.provider = nil
        #expect(try texts(container(key: .passphrase("for default"))) == ["a"])
        #expect(throws: SwiftDataError.loadIssueModelContainer) { try container(key: nil) }
    }

    @Test func `a wrong passphrase and damage are different errors, and the file stays unchanged`() throws {
        try save("a", in: container(key: .passphrase("right")))
        let before = try Data(contentsOf: folder.file("notes.store"))
        let error = #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try container(key: .passphrase("wrong"))
        }
        guard case DatabaseError.wrongKey? = error?.underlyingError else {
            Issue.record("the error is \(String(describing: error))"); return
        }
        #expect(try Data(contentsOf: folder.file("notes.store")) == before)
        #expect(try texts(container(key: .passphrase("right"))) == ["a"])
    }

    @Test func `one container stores classes in separate files, each with its key`() throws {
        func open() throws -> ModelContainer {
            try ModelContainer(
                for: Schema([Note.self, Secret.self]),
                configurations: [
                    ModelConfiguration(
                        "notes",
                        schema: Schema([Note.self]),
                        url: folder.file("n.store"),
                        key: .passphrase("n")
                    ),
                    ModelConfiguration(
                        "secrets",
                        schema: Schema([Secret.self]),
                        url: folder.file("s.store"),
                        key: .passphrase("s")
                    ),
                ]
            )
        }
        do {
            let context = ModelContext(try open())
            context.insert(Note(text: "a"))
            context.insert(Secret(name: "x"))
            try context.save()
        }
        #expect(try texts(container("n.store", key: .passphrase("n"))) == ["a"])
        #expect(throws: (any Error).self) { try container("s.store", key: .passphrase("n")) }
        #expect(try ModelContext(open()).fetch(FetchDescriptor<Secret>()).map(\.name) == ["x"])
    }

    @Test func `a container with allowsSave false reads and refuses to save`() throws {
        try save("a", in: container(key: .passphrase("p")))
        let readOnly = try container(key: .passphrase("p"), allowsSave: false)
        #expect(try texts(readOnly) == ["a"])
        #expect(throws: ObjectGraphError.self) { try save("b", in: readOnly) }
        #expect(try texts(readOnly) == ["a"])
    }

    @Test func `a file of other classes is refused with the differences`() throws {
        try save("a", in: container(key: .passphrase("p")))
        let error = #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try ModelContainer(
                for: Secret.self,
                configurations: ModelConfiguration(url: folder.file("notes.store"), key: .passphrase("p"))
            )
        }
        #expect("\(error!)".contains("Note") && "\(error!)".contains("Secret"))
    }

    @Test func `an erased container is empty and usable`() throws {
        let container = try container(key: .passphrase("p"))
        try save("a", "b", in: container)
        let context = ModelContext(container)
        let note = try #require(try context.fetch(FetchDescriptor<Note>()).first)
        try container.erase()
        #expect(try context.fetchCount(FetchDescriptor<Note>()) == 0)
        #expect(note.isDeleted)
        try save("c", in: container)
        #expect(try texts(container) == ["c"])
    }

    @Test func `a store in memory needs no key and leaves no file`() throws {
        let container = try ModelContainer(
            for: Note.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        try save("a", in: container)
        #expect(try texts(container) == ["a"])
        let another = try ModelContainer(
            for: Note.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        #expect(try texts(another).isEmpty)
    }

    @Test func `no file contains a saved text, neither while it is open nor afterwards`() throws {
        let marker = "marker-\(UUID().uuidString)"
        func expectNone() throws {
            for file in try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil) {
                #expect(try !Data(contentsOf: file).contains(Data(marker.utf8)), "\(file.lastPathComponent)")
            }
        }
        do {
            let container = try container(key: .passphrase("p"))
            try save(marker, marker + marker, in: container)
            try expectNone()
            #expect(try texts(container).count == 2)
        }
        try expectNone()
    }
}

extension Data {
    fileprivate func contains(_ part: Data) -> Bool { range(of: part) != nil }
}
