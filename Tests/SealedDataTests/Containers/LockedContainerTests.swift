import EncryptedSQLite
import Foundation
import SealedData
import SealedStore
import TestSupport
import Testing

@Model private final class SealedLetter {
    var text: String
    var answers: [SealedReply] = []

    init(text: String) { self.text = text }
}

@Model private final class SealedReply {
    var text: String
    @Relationship(inverse: \SealedLetter.answers) var letter: SealedLetter?

    init(text: String, letter: SealedLetter? = nil) {
        self.text = text
        self.letter = letter
    }
}

@Model private final class SealedNote {
    var text = ""

    init() {}
}

/// Containers that are locked, suspended, or get another key, with models and contexts that continue.
@Suite struct LockedContainerTests {
    private let folder = TemporaryFolder()
    private let configuration: ModelConfiguration
    private let container: ModelContainer
    private let key = EncryptionKey.passphrase("correct horse")
    private let newKey = EncryptionKey.passphrase("battery staple")

    init() throws {
        configuration = ModelConfiguration(url: folder.file("letters.store"), key: key)
        container = try ModelContainer(for: SealedLetter.self, configurations: configuration)
        let context = ModelContext(container)
        let letter = SealedLetter(text: "first")
        context.insert(letter)
        context.insert(SealedReply(text: "answer", letter: letter))
        try context.save()
    }

    @Test func `a locked container throws, and continues with the same models when it is unlocked`() throws {
        let context = ModelContext(container)
        let letter = try #require(try context.fetch(FetchDescriptor<SealedLetter>()).first)
        #expect(letter.text == "first")
        container.lock()
        #expect(container.isLocked)
        #expect(throws: DatabaseError.locked) { try context.fetch(FetchDescriptor<SealedLetter>()) }
        #expect(letter.text == "first")
        #expect(throws: DatabaseError.wrongKey(path: folder.filePath("letters.store"))) {
            try container.unlock(with: newKey)
        }
        #expect(container.isLocked)
        try container.unlock(with: key)
        letter.text = "changed"
        try context.save()
        #expect(letter.answers.map(\.text) == ["answer"])
        #expect(try ModelContext(container).fetch(FetchDescriptor<SealedLetter>()).map(\.text) == ["changed"])
    }

    @Test(arguments: [false, true])
    func `an undo in a locked container restores references, which a later save writes`(isSaved: Bool) throws {
        let context = ModelContext(container)
        let reply = try #require(try context.fetch(FetchDescriptor<SealedReply>()).first)
        let letter = try #require(reply.letter)
        let undoManager = UndoManager()
        context.undoManager = undoManager
        reply.letter = nil
        reply.text = "another answer"
        context.processPendingChanges()
        if isSaved { try context.save() }
        container.lock()
        undoManager.undo()
        #expect(reply.letter === letter)
        #expect(reply.text == "answer")
        try container.unlock(with: key)
        reply.text = "written after the undo"
        try context.save()
        let reader = ModelContext(container)
        let found = try reader.fetch(FetchDescriptor<SealedReply>())
        #expect(found.map(\.text) == ["written after the undo"])
        #expect(found.map { $0.letter?.text } == ["first"])
    }

    @Test func `a suspended container throws until it is resumed`() throws {
        let context = ModelContext(container)
        container.suspend()
        #expect(throws: DatabaseError.suspended) { try context.fetch(FetchDescriptor<SealedLetter>()) }
        #expect(try folder.names() == ["letters.store"])
        try container.resume()
        #expect(try context.fetchCount(FetchDescriptor<SealedLetter>()) == 1)
    }

    @Test func `unlocking and resuming do not depend on other files, nor on changed configurations`() async throws {
        let second = ModelConfiguration(
            "second",
            schema: Schema([SealedNote.self]),
            url: folder.file("notes"),
            key: key
        )
        let first = ModelConfiguration("first", schema: Schema([SealedLetter.self]), url: configuration.url, key: key)
        let both = try ModelContainer(
            for: Schema([SealedLetter.self, SealedNote.self]),
            configurations: [first, second]
        )
        both.configurations = []
        both.lock()
        try both.unlock(with: key)
        both.lock()
        let key = key
        try await both.unlock(key: { _ in key })
        try await both.unlock(key: { _ in
            Issue.record("no file is locked")
            return key
        })

        both.suspend()
        for url in [first.url, second.url] {
            let other = try ModelContainer(
                for: url == first.url ? SealedLetter.self : SealedNote.self,
                configurations: ModelConfiguration(url: url, key: key)
            )
            guard url == first.url else { continue }
            try other.changeKey(to: newKey)
        }
        #expect(throws: DatabaseError.wrongKey(path: first.url.path)) { try both.resume() }
        #expect(try ModelContext(both).fetchCount(FetchDescriptor<SealedNote>()) == 0)
        #expect(throws: DatabaseError.suspended) { try ModelContext(both).fetchCount(FetchDescriptor<SealedLetter>()) }
    }

    @Test func `the key of a container changes while models are in use`() throws {
        let context = ModelContext(container)
        let letter = try #require(try context.fetch(FetchDescriptor<SealedLetter>()).first)
        let other = try ModelContainer(for: SealedLetter.self, configurations: configuration)
        try container.changeKey(to: newKey)
        letter.text = "changed"
        try context.save()
        #expect(letter.answers.map(\.text) == ["answer"])
        #expect(throws: DatabaseError.moved(path: folder.filePath("letters.store"))) {
            try ModelContext(other).fetch(FetchDescriptor<SealedLetter>())
        }
        #expect(try newKey.opens(folder.file("letters.store")))
        #expect(try !key.opens(folder.file("letters.store")))
        #expect(try context.storeProblems() == [])
    }

    @Test func `a change of the key names its file`() throws {
        let other = ModelConfiguration("other", url: folder.file("other.store"), key: key)
        #expect(throws: SwiftDataError.unknownConfiguration) { try container.changeKey(of: other, to: newKey) }
        try container.changeKey(of: configuration, to: newKey)
        let memory = try ModelContainer(
            for: SealedLetter.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        #expect(throws: SwiftDataError.unknownConfiguration) { try memory.changeKey(to: newKey) }
        memory.lock()
        #expect(!memory.isLocked)
        #expect(try ModelContext(memory).fetchCount(FetchDescriptor<SealedLetter>()) == 0)
    }

    @Test func `a container is opened and unlocked with keys from an asynchronous source`() async throws {
        struct Denied: Error {}
        let url = folder.file("letters.store")
        let keyless = ModelConfiguration(url: url)
        let schema = Schema([SealedLetter.self])
        await #expect(throws: Denied.self) {
            try await ModelContainer.open(for: schema, configurations: [keyless]) { _ in throw Denied() }
        }
        let key = key
        let opened = try await ModelContainer.open(for: schema, configurations: [keyless]) { configuration in
            await Task.yield()
            #expect(configuration.url == url)
            return key
        }
        #expect(try ModelContext(opened).fetchCount(FetchDescriptor<SealedLetter>()) == 1)
        opened.lock()
        try await opened.unlock { _ in
            await Task.yield()
            return key
        }
        #expect(try ModelContext(opened).fetchCount(FetchDescriptor<SealedLetter>()) == 1)
    }
}
