import CSQLCipher
@testable import EncryptedSQLite
import Foundation
import Guarded
import TestSupport
import Testing

/// Temporary files of SQLite are encrypted and authenticated.
@Suite(.serialized) struct TemporaryFilesTests {
    private let folder = TemporaryFolder()
    private let marker = "MARKER-" + UUID().uuidString

    // MARK: Sorting

    #if os(Linux)
        /// The content of the nameless temporary files of a folder that the process has open.
        private static func temporaryFiles(in folder: String) -> [(path: String, content: Data)] {
            let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            return descriptors.compactMap { descriptor in
                let path = "/proc/self/fd/" + descriptor
                guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path),
                    target.hasPrefix(folder), target.contains("etilqs_"),
                    let content = try? Data(contentsOf: URL(filePath: path))
                else { return nil }
                return (path, content)
            }
        }

        /// The folder as the links of descriptors name it.
        private var path: String { folder.url.resolvingSymlinksInPath().path(percentEncoded: false) }

        private func database() throws -> Database {
            let database = try openSample(folder.filePath("store"), options: sampleOptions { $0.cacheKilobytes = 100 })
            try database.write { connection in
                try connection.withStatement("INSERT INTO item (name) VALUES (?)") { statement in
                    for number in 0..<40_000 {
                        try statement.bind(text: "\(number &* 7919 % 40_009) \(marker)", at: 1)
                        try statement.run()
                    }
                }
            }
            return database
        }

        private func isSound(_ database: Database) throws -> Bool {
            try database.read { try $0.string("PRAGMA integrity_check") } == "ok"
        }

        private func buildIndex(_ database: Database, _ look: @escaping @Sendable () -> Void) throws {
            try database.write(isBulk: true) { connection in
                try connection.interruptible {
                    look()
                    return false
                } _: {
                    try connection.execute("CREATE INDEX by_name ON item (name)")
                }
            }
        }

        /// The largest temporary file, and whether one contains the marker, each time that `look` is called.
        private final class Observation: Sendable {
            private let folder: String
            private let marker: Data
            private let found = Guarded((largest: 0, hasMarker: false))

            init(in folder: String, _ marker: String) {
                self.folder = folder
                self.marker = Data(marker.utf8)
            }

            var largest: Int { found.withLock(\.largest) }
            var hasMarker: Bool { found.withLock(\.hasMarker) }

            func look() {
                for (_, content) in TemporaryFilesTests.temporaryFiles(in: folder) {
                    found.withLock { found in
                        found.largest = max(found.largest, content.count)
                        if content.range(of: marker) != nil { found.hasMarker = true }
                    }
                }
            }
        }

        @Test func `an index is sorted in a file without plaintext`() throws {
            let database = try database()
            let observation = Observation(in: path, marker)
            try buildIndex(database) { observation.look() }
            #expect(observation.largest > 1_000_000)
            #expect(!observation.hasMarker)
            #expect(Self.temporaryFiles(in: path).isEmpty)
            #expect(try database.write { try $0.integer("PRAGMA temp_store") } == 2)
            #expect(try isSound(database))
            let sql = "SELECT count(*) FROM item INDEXED BY by_name WHERE name >= ''"
            #expect(try database.read { try $0.integer(sql) } == 40_000)
        }

        @Test func `the files are beside the database that a symbolic link leads to`() throws {
            try database().close()
            let (links, store) = (TemporaryFolder(), folder.filePath("store"))
            let link = links.filePath("link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: store)
            let database = try openSample(link, options: sampleOptions { $0.cacheKilobytes = 100 })
            let observation = Observation(in: path, marker)
            try buildIndex(database) { observation.look() }
            #expect(observation.largest > 1_000_000)
        }

        @Test func `the pages that a statement restores are in a file without plaintext`() throws {
            let database = try database()
            let observation = Observation(in: path, marker)
            try database.write { connection in
                try connection.execute("CREATE TABLE named (_id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT")
                try connection.execute("INSERT INTO named SELECT _id, name FROM item")
            }
            // The last row violates the constraint.
            let sql = "UPDATE named SET name = CASE WHEN _id = 40000 THEN NULL ELSE name || 'x' END"
            try database.write(isBulk: true) { connection in
                let error = databaseError {
                    try connection.interruptible {
                        observation.look()
                        return false
                    } _: {
                        try connection.execute(sql)
                    }
                }
                #expect(error != nil)
                // The transaction goes on.
                try connection.execute("DELETE FROM item WHERE _id = 1")
            }
            #expect(observation.largest > 1_000_000)
            #expect(!observation.hasMarker)
            #expect(try database.read { try $0.integer("SELECT count(*) FROM named WHERE name LIKE '%x'") } == 0)
            #expect(try database.read { try $0.integer("SELECT count(*) FROM item") } == 39_999)
            #expect(try isSound(database))
        }

        @Test func `a damaged temporary file ends the statement, and the database stays as it was`() throws {
            let database = try database()
            let (isDamaged, path) = (Guarded(false), path)
            let error = databaseError {
                try self.buildIndex(database) {
                    for (path, content) in Self.temporaryFiles(in: path) where content.count > 1_000_000 {
                        guard !isDamaged.withLock({ $0 }) else { return }
                        let file = open(path, O_WRONLY)
                        var byte = content[500_000] ^ 1
                        if pwrite(file, &byte, 1, 500_000) == 1 { isDamaged.withLock { $0 = true } }
                        close(file)
                    }
                }
            }
            #expect(isDamaged.withLock { $0 })
            #expect(error != nil)
            try buildIndex(database) {}
            #expect(try isSound(database))
        }
    #endif

    // MARK: Files

    /// A file of the file system, used through the methods that SQLite calls.
    private final class File {
        // The macros SQLITE_IOERR_SHORT_READ and SQLITE_IOERR_READ.
        static let shortRead = SQLITE_IOERR | 2 << 8
        static let failedRead = SQLITE_IOERR | 1 << 8

        private let file: UnsafeMutablePointer<sqlite3_file>

        init() throws {
            let system = try #require(sqlite3_vfs_find(try StoreFileSystem.name))
            let size = Int(system.pointee.szOsFile)
            let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
            memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
            file = memory.assumingMemoryBound(to: sqlite3_file.self)
            let flags =
                SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE
                | SQLITE_OPEN_DELETEONCLOSE
            var result: Int32 = 0
            try #require(system.pointee.xOpen(system, nil, file, flags, &result) == SQLITE_OK)
        }

        private var methods: sqlite3_io_methods { file.pointee.pMethods.pointee }

        func write(_ bytes: [UInt8], at offset: Int) -> Int32 {
            methods.xWrite(file, bytes, Int32(bytes.count), Int64(offset))
        }

        func read(_ count: Int, at offset: Int) -> (code: Int32, bytes: [UInt8]) {
            var bytes = [UInt8](repeating: 0xEE, count: count)
            let code = methods.xRead(file, &bytes, Int32(count), Int64(offset))
            return (code, bytes)
        }

        func truncate(to count: Int) -> Int32 { methods.xTruncate(file, Int64(count)) }

        var length: Int {
            var length: Int64 = -1
            _ = methods.xFileSize(file, &length)
            return Int(length)
        }

        deinit {
            _ = methods.xClose(file)
            UnsafeMutableRawPointer(file).deallocate()
        }
    }

    @Test func `a file has the content that was written, at all offsets and lengths`() throws {
        var random = SeededGenerator()
        for _ in 0..<20 {
            let file = try File()
            var content: [UInt8] = []
            for _ in 0..<200 {
                let count = Int.random(in: 1...(random.chance(50) ? 100 : 20_000), using: &random)
                var offset = Int.random(in: 0...content.count, using: &random)
                switch Int.random(in: 0..<10, using: &random) {
                case 0:
                    let length = Int.random(in: 0...content.count, using: &random)
                    #expect(file.truncate(to: length) == SQLITE_OK)
                    content.removeLast(content.count - length)
                case 1..<5:
                    let byte = UInt8.random(in: 0...255, using: &random)
                    if random.chance(20) {
                        // Behind the end.
                        offset = content.count + Int.random(in: 0...20_000, using: &random)
                        content += Array(repeating: 0, count: offset - content.count)
                    }
                    let bytes = (0..<count).map { byte &+ UInt8(truncatingIfNeeded: $0) }
                    #expect(file.write(bytes, at: offset) == SQLITE_OK)
                    content.replaceSubrange(offset..<min(content.count, offset + count), with: bytes)
                default:
                    let (code, bytes) = file.read(count, at: offset)
                    let available = content[offset..<min(content.count, offset + count)]
                    #expect(code == (available.count == count ? SQLITE_OK : File.shortRead))
                    #expect(bytes == available + Array(repeating: 0, count: count - available.count), "\(random)")
                }
                #expect(file.length == content.count)
            }
            #expect(file.read(max(1, content.count), at: 0).bytes == (content.isEmpty ? [0] : content), "\(random)")
        }
    }

    @Test func `a part of a file that was never written is zeros`() throws {
        let file = try File()
        #expect(file.write([1, 2, 3], at: 100_000) == SQLITE_OK)
        #expect(file.read(10, at: 5000).bytes == Array(repeating: 0, count: 10))
        #expect(file.read(6, at: 99_997).bytes == [0, 0, 0, 1, 2, 3])
        #expect(file.read(3, at: 200_000).code == File.shortRead)
    }

    #if os(Linux)
        @Test func `only the last content of a sector is read, in its place`() throws {
            let sector = 4096
            let file = try TemporaryFiles.withFolder(path) { try File() }
            let link = try #require(Self.temporaryFiles(in: path).first?.path)
            let disk = try FileHandle(forUpdating: URL(filePath: link))
            func content() throws -> Data {
                try disk.seek(toOffset: 0)
                return try #require(try disk.readToEnd())
            }
            func replace(by content: Data) throws {
                try disk.seek(toOffset: 0)
                try disk.write(contentsOf: content)
            }
            #expect(file.write([UInt8](repeating: 1, count: 2 * sector), at: 0) == SQLITE_OK)
            let old = try content()
            #expect(file.write([2], at: 0) == SQLITE_OK)
            let new = try content()
            #expect(file.read(1, at: 0).bytes == [2])

            try replace(by: old)
            #expect(file.read(1, at: 0).code == File.failedRead)
            #expect(file.read(1, at: sector).bytes == [1])
            // A part of a sector cannot be written, either.
            #expect(file.write([3], at: 1) == File.failedRead)

            let half = new.count / 2
            try replace(by: new.suffix(half) + new.prefix(half))
            #expect(file.read(1, at: 0).code == File.failedRead)
            #expect(file.read(1, at: sector).code == File.failedRead)

            try replace(by: new)
            #expect(file.read(2, at: 0).bytes == [2, 1])
            try disk.truncate(atOffset: UInt64(half))
            #expect(file.read(1, at: sector).code == File.failedRead)
        }
    #endif

    @Test func `threads keep their folders, nested calls included`() throws {
        let inner = TemporaryFolder()
        let files = try TemporaryFiles.withFolder(folder.url.path(percentEncoded: false)) {
            try [
                TemporaryFiles.withFolder(inner.url.path(percentEncoded: false)) { try File() },
                TemporaryFiles.withFolder("/nowhere") { try File() },
                File(),
            ]
        }
        for file in files { #expect(file.write([1], at: 0) == SQLITE_OK) }
        // The files have no names.
        #expect(try folder.names() + inner.names() == [])
        #if os(Linux)
            #expect(Self.temporaryFiles(in: path).count == 1)
            let innerPath = inner.url.resolvingSymlinksInPath().path(percentEncoded: false)
            #expect(Self.temporaryFiles(in: innerPath).count == 1)
        #endif
    }
}
