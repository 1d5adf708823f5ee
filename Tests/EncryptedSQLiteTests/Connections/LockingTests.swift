import EncryptedSQLite
import Foundation
import Guarded
import Synchronization
import TestSupport
import Testing

/// Databases whose connections are closed for a time.
@Suite struct LockingTests {
    private let folder = TemporaryFolder()
    private let path: String
    private let database: Database

    init() throws {
        path = folder.filePath("store")
        database = try openSample(path)
        try database.write { try insert(1...100, into: $0) }
    }

    private func expectUse(throws error: DatabaseError, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(databaseError { try database.read { try $0.itemCount() } } == error, sourceLocation: sourceLocation)
        #expect(databaseError { try database.write { _ in } } == error, sourceLocation: sourceLocation)
        #expect(databaseError { try database.snapshot() } == error, sourceLocation: sourceLocation)
        #expect(databaseError { try database.changeKey(to: rawKey(2)) } == error, sourceLocation: sourceLocation)
    }

    @Test func `a locked database throws until it is unlocked with the key`() throws {
        database.lock()
        expectUse(throws: .locked)
        #expect(databaseError { try database.resume() } == .locked)
        #expect(databaseError { try database.unlock(with: rawKey(2)) } == .wrongKey(path: path))
        expectUse(throws: .locked)
        try database.unlock(with: rawKey())
        try database.write { try insert(101...101, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 101)
    }

    @Test func `a suspended database throws until it is resumed`() throws {
        database.suspend()
        expectUse(throws: .suspended)
        try database.resume()
        try database.write { try insert(101...101, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 101)
    }

    @Test func `a suspended database can be locked`() throws {
        database.suspend()
        database.lock()
        expectUse(throws: .locked)
        try database.unlock(with: rawKey())
        #expect(try database.read { try $0.itemCount() } == 100)
    }

    @Test func `a locked database that is suspended stays locked, and is unlocked`() throws {
        database.lock()
        database.suspend()
        expectUse(throws: .locked)
        try database.unlock(with: rawKey())
        #expect(try database.read { try $0.itemCount() } == 100)
    }

    @Test func `locking and suspending close all files`() throws {
        database.suspend()
        #expect(try folder.names() == ["store"], "the log is written back")
        try database.resume()
        _ = try database.read { try $0.itemCount() }
        database.lock()
        #expect(try folder.names() == ["store"])
    }

    @Test func `a database can be closed while it is locked`() throws {
        database.lock()
        try database.close()
        #expect(databaseError { try database.unlock(with: rawKey()) } == .closed)
        #expect(databaseError { try database.read { _ in } } == .closed)
    }

    @Test func `locking waits for a running read, and refuses threads that wait`() throws {
        let database = try openSample(path, options: sampleOptions { $0.readerCount = 1 })
        let started = Barrier(count: 2)
        let isDone = Atomic(false)
        let thread = Thread {
            try? database.read { connection in
                started.arrive()
                for _ in 0..<200 { _ = try connection.itemCount() }
                isDone.store(true, ordering: .sequentiallyConsistent)
            }
        }
        thread.start()
        started.arrive()
        database.lock()
        let wasDone = isDone.load(ordering: .sequentiallyConsistent)
        #expect(wasDone)
        #expect(databaseError { try database.read { _ in } } == .locked)
    }

    @Test func `a snapshot ends with the lock`() throws {
        let snapshot = try #require(try database.snapshot())
        database.lock()
        #expect(databaseError { try snapshot.perform { try database.read { _ in } } } == .locked)
        try database.unlock(with: rawKey())
        #expect(databaseError { try snapshot.perform { try database.read { _ in } } } == .closed)
    }

    @Test func `another process can change the key of a locked database`() throws {
        database.lock()
        let other = try openSample(path)
        try other.changeKey(to: rawKey(2))
        try other.close()
        #expect(databaseError { try database.unlock(with: rawKey()) } == .wrongKey(path: path))
        try database.unlock(with: rawKey(2))
        #expect(try database.read { try $0.itemCount() } == 100)
    }

    @Test func `a suspended database does not open a file with another key`() throws {
        database.suspend()
        let other = try openSample(path)
        try other.changeKey(to: rawKey(2))
        #expect(databaseError { try database.resume() } == .wrongKey(path: path))
        expectUse(throws: .suspended)
        database.lock()
        try database.unlock(with: rawKey(2))
        #expect(try database.read { try $0.itemCount() } == 100)
    }

    @Test func `a suspended database opens a file that was replaced under the same key`() throws {
        database.suspend()
        let other = try openSample(path)
        try other.replaceFile { source, target, progress in
            try PageCopy.run(from: source, to: target, progress: progress)
        }
        try database.resume()
        try database.write { try insert(101...101, into: $0) }
        #expect(try other.read { try $0.itemCount() } == 101)
    }

    @Test func `unlocking a missing file creates none`() throws {
        database.lock()
        try FileManager.default.removeItem(atPath: path)
        #expect(databaseError { try database.unlock(with: rawKey()) } == .fileNotFound(path: path))
        #expect(try folder.names() == [])
    }

    @Test func `a database in memory stays open`() throws {
        let memory = try Database(.memory, key: nil)
        try memory.write { try $0.execute("CREATE TABLE item (_id)") }
        memory.lock()
        memory.suspend()
        #expect(try memory.read { try $0.itemCount() } == 0)
    }

    // this thread                    | another thread
    // changes the key, copies pages  |
    //                                | locks the database
    // throws                         |
    //                                | returns
    @Test(arguments: [DatabaseError.locked, .suspended, .closed])
    func `a change of the key ends when the database is locked, suspended or closed`(error: DatabaseError) throws {
        let database = database
        let ended = DispatchSemaphore(value: 0)
        let progress = Progress(totalUnitCount: 100)
        let thrown = databaseError {
            try database.replaceFile(key: rawKey(2), progress: progress) { source, target, _ in
                Thread.detachNewThread {
                    switch error {
                    case .locked: database.lock()
                    case .suspended: database.suspend()
                    default: try? database.close()
                    }
                    ended.signal()
                }
                while !progress.isCancelled { sched_yield() }
                throw CancellationError()
            }
        }
        #expect(thrown == error)
        ended.wait()
        #expect(databaseError { try database.copy(to: folder.filePath("copy")) } == error)
        #expect(databaseError { try database.verifyPages { _, _ in } } == error)
        #expect(try folder.names() == ["store"])
        #expect(try openSample(path).read { try $0.itemCount() } == 100)
        guard error == .suspended else { return }
        try database.resume()
        try database.changeKey(to: rawKey(2))
        try database.copy(to: folder.filePath("copy"))
    }

    #if os(Linux)
        @Test(arguments: [Database.CopyForm.pages, .compact, nil])
        func `a running copy or check holds no descriptor after locking`(form: Database.CopyForm?) throws {
            try database.write { try insert(101...40_000, into: $0) }
            let (database, copy) = (database, folder.filePath("copy"))
            let inode = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int ?? 0
            let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            Thread.detachNewThread {
                begun.signal()
                do {
                    if let form {
                        try database.copy(to: copy, form: form)
                    } else {
                        _ = try database.verifyPages { _, _ in }
                    }
                } catch {
                    // It may also have ended before.
                    #expect(error as? DatabaseError == .locked)
                }
                ended.signal()
            }
            begun.wait()
            database.lock()
            let isOpen = (0..<1024 as Range<Int32>).contains { descriptor in
                var status = stat()
                return fstat(descriptor, &status) == 0 && Int(status.st_ino) == inode
            }
            #expect(!isOpen)
            ended.wait()
            #expect(try folder.names().allSatisfy { $0 == "store" || $0 == "copy" })
        }

        @Test func `a suspended database holds no lock on its files`() throws {
            let inode = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int ?? 0
            func locks() throws -> [Substring] {
                try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
                    .filter { $0.contains(":\(inode) ") }
            }
            #expect(try !locks().isEmpty)
            database.suspend()
            #expect(try locks().isEmpty)
        }
    #endif
}

#if os(Linux)
    /// The memory of a process with a locked database; run in a separate process.
    @Suite(.enabled(if: HiddenSecret.isSearchable)) struct LockedMemoryTests {
        @Test func `after locking, neither passphrase nor key nor content is in memory`() async {
            await #expect(processExitsWith: .success) {
                // The error of a process that ends with one is not reported.
                do {
                    try LockedMemoryTests.search()
                } catch {
                    Issue.record(error)
                }
            }
        }

        private static func search() throws {
            let folder = TemporaryFolder()
            for isPassphrase in [true, false] {
                let secret = HiddenSecret()
                let content = HiddenSecret()
                let key = {
                    try secret.withBytes {
                        isPassphrase ? EncryptionKey.passphrase($0) : try EncryptionKey.raw($0)
                    }
                }
                let database = try openSample(
                    folder.filePath("store-\(isPassphrase)"),
                    key: key(),
                    options: sampleOptions { $0.memorySecurity = true }
                )
                try database.write { connection in
                    try connection.execute("CREATE TABLE note (content BLOB)")
                    try content.withBytes { bytes in
                        try connection.withStatement("INSERT INTO note VALUES (?)") { statement in
                            try statement.bind(blob: UnsafeRawBufferPointer(bytes), at: 1)
                            try statement.run()
                        }
                    }
                }
                let count = "SELECT count(*) FROM note WHERE length(content) = 32"
                let stored = try database.read { try $0.integer(count) }
                try #require(stored == 1)
                let isContentFoundWhileInUse = try content.isInMemory()
                try #require(isContentFoundWhileInUse)
                if !isPassphrase {
                    let isKeyFoundWhileInUse = try secret.isInMemory()
                    try #require(isKeyFoundWhileInUse)
                }
                database.lock()
                let isKeyFound = try secret.isInMemory()
                try #require(!isKeyFound)
                let isContentFound = try content.isInMemory()
                try #require(!isContentFound)
                try database.unlock(with: key())
                let found = try database.read { try $0.integer(count) }
                try #require(found == 1)
                database.suspend()
                let isSuspendedContentFound = try content.isInMemory()
                try #require(!isSuspendedContentFound)
                try database.resume()
                try database.close()
                for hidden in [secret, content] {
                    let isFoundAfterClosing = try hidden.isInMemory()
                    try #require(!isFoundAfterClosing)
                }
            }
        }
    }
#endif
