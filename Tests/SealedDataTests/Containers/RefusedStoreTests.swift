import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedData
import TestSupport
import Testing

/// Containers that cannot be opened: the errors name the cause and the remedy.
@Suite("Containers that cannot be opened") struct RefusedStoreTests {
    @Model
    final class Note {
        var text = ""
        init() {}
    }

    @Model
    final class Other {
        var text = ""
        init() {}
    }

    private let folder = TemporaryFolder()

    private func configuration(_ name: String, allowsSave: Bool = true, key: String = "p") -> ModelConfiguration {
        ModelConfiguration(name, url: folder.file(name), allowsSave: allowsSave, key: .passphrase(key))
    }

    /// Returns the error of opening a container, which must be of the expected kind.
    private func refusal(
        _ configurations: [any DataStoreConfiguration],
        _ kind: SwiftDataError = .loadIssueModelContainer,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> SwiftDataError {
        try #require(
            throws: kind,
            sourceLocation: sourceLocation
        ) { _ = try ModelContainer(for: Schema([Note.self]), configurations: configurations) }
    }

    private func make(_ name: String) throws {
        _ = try ModelContainer(for: Note.self, configurations: configuration(name))
    }

    @Test func `with a wrong key`() throws {
        try make("a")
        let error = try refusal([configuration("a", key: "wrong")])
        #expect(error.underlyingError as? DatabaseError == .wrongKey(path: folder.file("a").path))
        #expect(error.explanation?.contains("Check the passphrase") == true)
        #expect("\(error)".contains("'a'"))
    }

    @Test func `without a folder that can be created`() throws {
        try Data().write(to: folder.file("file"))
        let url = folder.file("file").appending(path: "below/x.store")
        let error = try refusal([ModelConfiguration(url: url, key: .passphrase("p"))])
        #expect(error.explanation?.contains("cannot be made") == true)
        #expect(error.underlyingError != nil)
    }

    @Test func `with allowsSave false and no file`() throws {
        let error = try refusal([configuration("missing", allowsSave: false)])
        #expect(error.underlyingError as? DatabaseError == .fileNotFound(path: folder.file("missing").path))
        #expect(!FileManager.default.fileExists(atPath: folder.file("missing").path))
    }

    @Test func `on a folder`() throws {
        try FileManager.default.createDirectory(at: folder.file("d"), withIntermediateDirectories: true)
        #expect(try refusal([configuration("d")]).underlyingError is DatabaseError)
    }

    @Test func `on a file of another kind`() throws {
        let text = Data(String(repeating: "a text file, not a database\n", count: 200).utf8)
        try text.write(to: folder.file("t"))
        let error = try refusal([configuration("t")])
        guard case DatabaseError.notADatabase? = error.underlyingError else {
            Issue.record("the cause is \(String(describing: error.underlyingError))")
            return
        }
        #expect(try Data(contentsOf: folder.file("t")) == text)
        try Data().write(to: folder.file("e"))
        #expect(try refusal([configuration("e")]).underlyingError is DatabaseError)
    }

    @Test func `on a file of a newer format`() throws {
        try make("n")
        let database = try Database(
            .file(folder.file("n").path),
            key: .passphrase("p"),
            options: Database.Options(applicationID: 0x5345_414C, newestUserVersion: 1)
        ) { _ in }
        try database.write { try $0.execute("PRAGMA user_version = 99") }
        try database.close()
        let error = try refusal([configuration("n")])
        guard case DatabaseError.newerFormat? = error.underlyingError else {
            Issue.record("the cause is \(String(describing: error.underlyingError))")
            return
        }
    }

    @Test func `on a file of other classes`() throws {
        _ = try ModelContainer(for: Other.self, configurations: configuration("o"))
        let error = try refusal([configuration("o")])
        #expect(error.explanation?.contains("with the schema that it has") == true)
    }

    @Test func `with two configurations of one file`() throws {
        let error = try refusal([configuration("a"), configuration("a")], .duplicateConfiguration)
        #expect("\(error)".contains("'a'"))
        let inMemory = ModelConfiguration(isStoredInMemoryOnly: true)
        _ = try refusal([inMemory, inMemory], .duplicateConfiguration)
    }

    @Test func `with two configurations for the same classes`() throws {
        let error = try refusal([configuration("a"), configuration("b")])
        #expect("\(error)".contains("separate schema"))
    }

    @Test func `with a configuration for classes that the container does not have`() throws {
        let other = ModelConfiguration(schema: Schema([Other.self]), isStoredInMemoryOnly: true)
        let error = try refusal([other], .configurationSchemaNotFoundInContainerSchema)
        #expect("\(error)".contains("Other"))
    }

    @Test func `with a name that is not a file name`() throws {
        _ = try refusal([ModelConfiguration("a/b")], .configurationFileNameContainsInvalidCharacters)
        _ = try refusal([ModelConfiguration(String(repeating: "n", count: 300))], .configurationFileNameTooLong)
    }

    @Test func `with a schema that differs from its classes`() throws {
        let schema = Schema([Note.self])
        schema.entities[0].storedProperties = []
        let error = #expect(throws: SwiftDataError.modelValidationFailure) {
            try ModelContainer(for: schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        }
        #expect("\(error!)".contains("class Note has text"))
    }

    @Test func `and leave no store open`() throws {
        try make("a")
        let configurations = [
            ModelConfiguration("a", schema: Schema([Note.self]), url: folder.file("a"), key: .passphrase("p")),
            ModelConfiguration("b", schema: Schema([Other.self]), url: folder.file("a/x"), key: .passphrase("p")),
        ]
        #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try ModelContainer(for: Schema([Note.self, Other.self]), configurations: configurations)
        }
        try make("a")
    }

    @Test func `describe themselves without their keys`() throws {
        let container = try ModelContainer(for: Note.self, configurations: configuration("a", key: "secret"))
        #expect(container.debugDescription.contains("Note") && container.debugDescription.contains("a"))
        for text in ["\(container.configurations)", container.debugDescription, String(reflecting: container)] {
            #expect(!text.contains("secret"))
        }
    }
}
