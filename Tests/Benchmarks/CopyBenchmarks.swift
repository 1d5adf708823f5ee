import CSQLCipher
import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import SealedTransfer
import TestSupport
import Testing

/// The size of the measured store in MB; nil if the measurement is not requested.
private let megabytes = ProcessInfo.processInfo.environment["BENCHMARK_COPY"].flatMap { Int($0) }

/// The operations on a whole file beside `sqlcipher_export` and a plain copy: `Scripts/benchmark --copies`.
@Suite(.serialized, .enabled(if: megabytes != nil))
struct CopyBenchmarks {
    private static let key = (0..<32).map { UInt8($0) }

    @Test func `copies of a whole store in megabytes per second`() throws {
        let folder = TemporaryFolder()
        let url = folder.file("source.store")
        let opened = try makeStore(url, megabytes: megabytes ?? 0)
        let (coordinator, store) = (opened, try #require(opened.persistentStores.first as? SealedStore))
        let size = Double(DatabaseSize.byteCount(of: url)) / 1_000_000
        print(String(format: "a store of %.0f MB", size))
        print("operation                      seconds    MB/s")
        func measure(_ name: String, _ body: (URL) throws -> Void) throws {
            let target = folder.file("target")
            let start = ContinuousClock.now
            try body(target)
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let padded = name.padding(toLength: 30, withPad: " ", startingAt: 0)
            print(padded + String(format: "%8.2f %7.0f", seconds, size / seconds))
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: target.path + suffix) }
        }
        // Twice: the first turn fills the page cache of the system.
        for _ in 0..<2 { try measure("plain copy") { try copyPlainly(url, to: $0) } }
        try measure("sqlcipher_export") { try exportByHand(url, to: $0) }
        try measure("backup") { try store.backUp(to: $0) }
        try measure("backup with another key") { try store.backUp(to: $0, key: .raw(repeatElement(9, count: 32))) }
        try measure("compaction into a new file") { try store.compact(into: $0) }
        try measure("change of the key") { _ in try store.changeKey(to: .raw(repeatElement(8, count: 32))) }
        try measure("change of the key back") { _ in try store.changeKey(to: .raw(Self.key)) }
        try measure("compaction in place") { _ in try store.compact() }
        try measure("check") { _ in
            let problems = try store.check()
            #expect(problems == [])
        }
        let export = try StoreExport(from: url, key: .raw(Self.key))
        try measure("export as plaintext SQLite") { try export.exportPlaintext(to: $0) }
        try measure("export as JSON lines") { try export.exportJSONLines(to: $0) }
        try coordinator.removeAllStores()
        try measure("salvage") { _ = try SealedStore.salvage(url, key: .raw(Self.key), to: $0) }
    }

    /// Creates a store with objects of about 1 kB.
    private func makeStore(_ url: URL, megabytes: Int) throws -> PersistentStoreCoordinator {
        SealedStore.register()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Note",
                attributes: [
                    AttributeDescription("number", .int64), AttributeDescription("title", .string),
                    AttributeDescription("text", .string),
                ],
                indexes: [.init(["number"])]
            )
        ])
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: url,
                options: [SealedStore.keyOption: EncryptionKey.raw(Self.key)]
            )
        )
        let context = ManagedObjectContext(coordinator: coordinator)
        for batch in 0..<megabytes {
            for number in 0..<1000 {
                let note = ManagedObject(entity: model.entities[0], insertInto: context)
                note["number"] = .integer(Int64(batch * 1000 + number))
                note["title"] = .text("note \(number) of \(batch)")
                note["text"] = .text(String(repeating: "text \(number &* 7919) ", count: 80))
            }
            try context.save()
            context.reset()
        }
        return coordinator
    }

    private func copyPlainly(_ url: URL, to target: URL) throws {
        try Data().write(to: target)
        let (input, output) = (try FileHandle(forReadingFrom: url), try FileHandle(forWritingTo: target))
        while let chunk = try input.read(upToCount: 1 << 20), !chunk.isEmpty { try output.write(contentsOf: chunk) }
        try output.synchronize()
        try output.close()
        try input.close()
    }

    /// The program that SQLCipher's documentation recommends.
    private func exportByHand(_ url: URL, to target: URL) throws {
        struct Failure: Error { let message: String }
        let digits = Self.key.map { String(format: "%02x", $0) }.joined()
        var handle: OpaquePointer?
        // ATTACH creates the file only with the flag of the connection.
        let code = sqlite3_open_v2(url.path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        defer { sqlite3_close(handle) }
        guard code == SQLITE_OK else { throw Failure(message: String(cString: sqlite3_errmsg(handle))) }
        let script = """
            PRAGMA key = "x'\(digits)'"; PRAGMA temp_store = MEMORY;
            ATTACH '\(target.path)' AS copy KEY "x'\(digits)'"; SELECT sqlcipher_export('copy'); DETACH copy;
            """
        guard sqlite3_exec(handle, script, nil, nil, nil) == SQLITE_OK else {
            throw Failure(message: String(cString: sqlite3_errmsg(handle)))
        }
    }
}

private enum DatabaseSize {
    /// The length of a file and its log.
    static func byteCount(of url: URL) -> Int {
        ["", "-wal"].reduce(0) { sum, suffix in
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.path + suffix)
            return sum + (attributes?[.size] as? Int ?? 0)
        }
    }
}
