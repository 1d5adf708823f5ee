import EncryptedSQLite
import Foundation
import Guarded
import TestSupport
import Testing

/// Several connections that read the same state.
@Suite struct ConcurrentReadingTests {
    private let folder = TemporaryFolder()
    private let database: Database

    init() throws {
        database = try openSample(folder.filePath("database"))
        try database.write { try insert(1...1, into: $0) }
    }

    @Test func `all parts read the same state beside a steady writer`() throws {
        // Another database of the same file, as in another process.
        let other = try openSample(folder.filePath("database"))
        let isOver = Guarded(false)
        let end = DispatchSemaphore(value: 0)
        let writer = Thread {
            var next = 2
            while !isOver.withLock({ $0 }) {
                try? other.write { try insert(next...next, into: $0) }
                next += 1
            }
            end.signal()
        }
        writer.start()
        var concurrent = 0
        for _ in 0..<2000 where concurrent < 100 {
            let counts = try database.readConcurrently(parts: 3) { connection, _ in try connection.itemCount() }
            guard let counts else { continue }
            concurrent += 1
            #expect(Set(counts).count == 1)
            let again = try database.read { try $0.itemCount() }
            #expect(try #require(again) >= #require(counts[0]))
        }
        isOver.withLock { $0 = true }
        end.wait()
        // Without commits it always succeeds, unless no thread is free.
        var isRead = false
        for _ in 0..<100 where !isRead {
            isRead = try database.readConcurrently(parts: 3) { connection, _ in try connection.itemCount() } != nil
        }
        #expect(isRead)
    }

    @Test func `nested reads and pools without a free connection do not read concurrently`() throws {
        let database = database
        let read = { try database.readConcurrently(parts: 2) { connection, part in part } }
        #expect(try database.read { _ in try read() } == nil)
        #expect(try database.write { _ in try read() } == nil)
        #expect(try database.snapshot()?.perform { try read() } == .some(nil))
        let single = try openSample(folder.filePath("single"), options: sampleOptions { $0.readerCount = 1 })
        #expect(try single.readConcurrently(parts: 2) { _, part in part } == nil)
    }

    @Test func `the error of any part is thrown`() throws {
        struct Failure: Error {}
        let database = database
        for failing in 0..<2 {
            #expect(throws: Failure.self) {
                while try database.readConcurrently(parts: 2, { if $1 == failing { throw Failure() } }) == nil {}
            }
        }
        #expect(try database.read { try $0.itemCount() } == 1)
    }
}
