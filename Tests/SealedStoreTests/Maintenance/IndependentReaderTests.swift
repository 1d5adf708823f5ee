import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import EncryptedSQLite
@testable import SealedStore

/// Other programs open the files of stores with each kind of key, after each operation that writes a file.
@Suite struct IndependentReaderTests {
    private static let digits = (0..<32).map { String(format: "%02x", $0 + 7) }.joined()
    private static let salt = (0..<16).map { UInt8(0xB0 + $0) }
    private static let saltDigits = salt.map { String(format: "%02x", $0) }.joined()

    enum KeyKind: CaseIterable {
        case passphrase, rounds, scrypt, raw, rawWithSalt, header, rawWithHeader

        var key: EncryptionKey {
            get throws {
                let bytes = (0..<32).map { UInt8($0 + 7) }
                return switch self {
                case .passphrase: .passphrase("correct horse")
                case .rounds: .passphrase("correct horse", derivation: .pbkdf2(rounds: 10_000))
                case .scrypt: .passphrase("correct horse", derivation: .scrypt(cost: 1024))
                case .raw: try .raw(bytes)
                case .rawWithSalt: try .raw(bytes, salt: IndependentReaderTests.salt)
                case .header:
                    try .passphrase("correct horse").withPlaintextHeader(salt: IndependentReaderTests.salt)
                case .rawWithHeader: try .raw(bytes).withPlaintextHeader(salt: IndependentReaderTests.salt)
                }
            }
        }

        /// The settings with which another program opens a file.
        func settings(of url: URL) throws -> [String] {
            let (digits, saltDigits) = (IndependentReaderTests.digits, IndependentReaderTests.saltDigits)
            let passphrase = "PRAGMA key = 'correct horse'"
            let header = "PRAGMA cipher_plaintext_header_size = 32"
            switch self {
            case .passphrase: return [passphrase]
            case .rounds: return [passphrase, "PRAGMA kdf_iter = 10000"]
            case .scrypt:
                // Other programs do not have the function: they need the derived key.
                let salt = try Data(contentsOf: url).prefix(DerivedKey.saltByteCount)
                let derived = try DerivedKey(key, fileSalt: Array(salt), counters: StatisticsCounters())
                let key = derived.withSpecification { String(decoding: $0, as: UTF8.self) }
                return ["PRAGMA key = \"\(key)\""]
            case .raw: return ["PRAGMA key = \"x'\(digits)'\""]
            case .rawWithSalt: return ["PRAGMA key = \"x'\(digits)\(saltDigits)'\""]
            case .header: return [passphrase, header, "PRAGMA cipher_salt = \"x'\(saltDigits)'\""]
            case .rawWithHeader: return ["PRAGMA key = \"x'\(digits)\(saltDigits)'\"", header]
            }
        }
    }

    private let folder = TemporaryFolder()

    private func open(_ name: String, _ kind: KeyKind) throws -> PersistentStoreCoordinator {
        SealedStore.register()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Note",
                attributes: [AttributeDescription("text", .string)],
                indexes: [.init(["text"], kind: .fullText(FullTextOptions()))]
            )
        ])
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: folder.file(name),
                options: [SealedStore.keyOption: kind.key]
            )
        )
        return coordinator
    }

    /// Writes files with a kind of key by each operation. Returns their names.
    private func makeFiles(_ kind: KeyKind) throws -> [String] {
        let coordinator = try open("created.store", kind)
        let context = ManagedObjectContext(coordinator: coordinator)
        for number in 0..<60 {
            let note = ManagedObject(entity: context.model.entities[0], insertInto: context)
            note["text"] = .text("note \(number) " + String(repeating: "x", count: 300))
        }
        try context.save()
        for note in try context.fetch(FetchRequest(context.model.entities[0]), as: ManagedObject.self).prefix(20) {
            context.delete(note)
        }
        try context.save()
        let store = try #require(coordinator.persistentStores.first as? SealedStore)
        try store.backUp(to: folder.file("backup.store"))
        try store.compact(into: folder.file("compactInto.store"))
        try coordinator.removeAllStores()
        // The change of the key comes from another kind, and a compaction in place follows.
        for name in ["rekeyed.store", "compacted.store"] {
            let other = try open("created.store", kind)
            let store = try #require(other.persistentStores.first as? SealedStore)
            let old: KeyKind = kind == .raw ? .passphrase : .raw
            try store.backUp(to: folder.file(name), key: old.key)
            try other.removeAllStores()
            let copy = try open(name, old)
            let copied = try #require(copy.persistentStores.first as? SealedStore)
            try copied.changeKey(to: kind.key)
            if name == "compacted.store" { try copied.compact() }
            try copy.removeAllStores()
        }
        _ = try SealedStore.salvage(
            folder.file("created.store"),
            key: kind.key,
            to: folder.file("salvaged.store")
        )
        return ["created", "backup", "compactInto", "rekeyed", "compacted", "salvaged"].map { $0 + ".store" }
    }

    private func expectReadable(_ kind: KeyKind, by reader: IndependentReader) throws {
        for name in try makeFiles(kind) {
            let url = folder.file(name)
            let count = try reader.rowCount("Note", in: url.path, settings: kind.settings(of: url))
            #expect(count == 40, "\(kind) \(name)")
        }
        #expect(try folder.names().count == 6)
    }

    @Test(arguments: KeyKind.allCases)
    func `the sqlcipher tool opens every file`(kind: KeyKind) throws {
        try expectReadable(kind, by: .tool)
    }

    @Test(
        .enabled(if: IndependentReader.isPythonAvailable, "Python has no module sqlcipher3"),
        arguments: KeyKind.allCases
    )
    func `sqlcipher3 opens every file`(kind: KeyKind) throws {
        try expectReadable(kind, by: .python)
    }
}
