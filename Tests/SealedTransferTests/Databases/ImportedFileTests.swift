import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import TestSupport
import Testing

@testable import SealedTransfer

/// The files that imports write are read by other programs, and those that other programs write with a plaintext header
/// are imported.
@Suite struct ImportedFileTests {
    private static let salt = (0..<16).map { UInt8(0xC0 + $0) }
    private static let header = [
        "PRAGMA key = 'correct horse'", "PRAGMA cipher_plaintext_header_size = 32",
        "PRAGMA cipher_salt = \"x'c0c1c2c3c4c5c6c7c8c9cacbcccdcecf'\"",
    ]

    private let folder = TemporaryFolder()

    private func key(hasHeader: Bool) throws -> EncryptionKey {
        let key = EncryptionKey.passphrase("correct horse")
        return hasHeader ? try key.withPlaintextHeader(salt: Self.salt) : key
    }

    @Test(arguments: [false, true])
    func `the sqlcipher tool opens an imported store`(hasHeader: Bool) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Item", attributes: [AttributeDescription("name", .string)])
        ])
        let lines = (1...50).map { "{\"_entity\":\"Item\",\"_id\":\($0),\"name\":\"item \($0)\"}\n" }
        try Data(lines.joined().utf8).write(to: folder.file("in.jsonl"))
        let target = try StoreImport(into: folder.file("store"), key: key(hasHeader: hasHeader), model: model)
        try target.importJSONLines(from: folder.file("in.jsonl"))
        let beginning = try Data(contentsOf: folder.file("store")).prefix(16)
        #expect((beginning == Data("SQLite format 3\0".utf8)) == hasHeader)
        let settings = hasHeader ? Self.header : [Self.header[0]]
        let readers: [IndependentReader] = IndependentReader.isPythonAvailable ? [.tool, .python] : [.tool]
        for reader in readers {
            #expect(try reader.rowCount("Item", in: folder.filePath("store"), settings: settings) == 50)
        }
        // A second import goes into the existing file.
        try Data("{\"_entity\":\"Item\",\"name\":\"another\"}\n".utf8).write(to: folder.file("in.jsonl"))
        try target.importJSONLines(from: folder.file("in.jsonl"))
        let count = try IndependentReader.tool.rowCount("Item", in: folder.filePath("store"), settings: settings)
        #expect(count == 51)
    }

    @Test func `a database with a plaintext header is imported`() throws {
        let sql = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO item VALUES (1, 'a'), (2, 'b');"
        try ForeignFile.run(Self.header.joined(separator: "; ") + "; " + sql, on: folder.file("foreign.db"))
        let before = try folder.contents()
        let target = StoreImport(into: folder.file("store"), key: Harbour.key)
        let report = try target.importDatabase(
            from: folder.file("foreign.db"),
            encryption: .sqlCipher4(key(hasHeader: true))
        )
        #expect(report.objectCount == 2)
        #expect(try folder.contents()["foreign.db"] == before["foreign.db"])
        #expect(throws: DatabaseError.invalidKey(.missingSalt)) {
            try StoreImport(into: folder.file("other"), key: Harbour.key).importDatabase(
                from: folder.file("foreign.db"),
                encryption: .sqlCipher4(key(hasHeader: false))
            )
        }
    }
}
