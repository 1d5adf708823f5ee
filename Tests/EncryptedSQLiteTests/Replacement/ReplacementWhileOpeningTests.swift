import Dispatch
@testable import EncryptedSQLite
import Foundation
import Guarded
import TestSupport
import Testing

/// Replacements of a file that another part of the process is opening.
@Suite struct ReplacementWhileOpeningTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.filePath("store") }

    /// | connection      | database              |
    /// |-----------------|-----------------------|
    /// | opens the file  |                       |
    /// |                 | replaces it, commits  |
    /// | –               |                       |
    @Test func `a connection that has not read yet knows that its file was replaced`() throws {
        let database = try openSample(path)
        try database.write { try insert(1...10, into: $0) }
        let files = try DatabaseFiles(at: path)
        let connection = try ConnectionOpener.connect(files, options: sampleOptions(), counters: database.counters)
        defer { connection.close() }
        #expect(!connection.hasMovedFile)
        try database.changeKey(to: rawKey(2))
        try database.write { try insert(11...20, into: $0) }
        #expect(connection.hasMovedFile)
    }

    @Test func `a replacement waits for the first reads of connections, and those that follow wait for it`() {
        let gate = OpeningGate.at(path)
        let events = Guarded<[String]>([])
        let (isReading, mayEnd, isClosing) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) {
            try? gate.opening { () throws(DatabaseError) in
                isReading.signal()
                mayEnd.wait()
                events.withLock { $0.append("read") }
            }
        }
        isReading.wait()
        DispatchQueue.global().async(group: group) {
            isClosing.signal()
            gate.close()
            events.withLock { $0.append("replaced") }
            DispatchQueue.global().async(group: group) {
                try? gate.opening { () throws(DatabaseError) in events.withLock { $0.append("read") } }
            }
            events.withLock { $0.append("replaced") }
            gate.open()
        }
        isClosing.wait()
        mayEnd.signal()
        group.wait()
        #expect(events.withLock(\.self) == ["read", "replaced", "replaced", "read"])
    }

    // Two connections to different files with one index of the log would end the process.
    @Test func `a file can be opened again and again while it is replaced and written`() throws {
        let path = path
        let options = sampleOptions { $0.busyTimeoutMilliseconds = 10_000 }
        let database = try openSample(path, options: options)
        try database.write { try insert(1...10, into: $0) }
        let isDone = Guarded(false)
        let unexpected = Guarded<[String]>([])
        inThreads(4) { number in
            var count = 10
            repeat {
                do {
                    switch number {
                    case 0:
                        defer { isDone.withLock { $0 = true } }
                        for _ in 0..<30 { try database.changeKey(to: rawKey()) }
                    case 1:
                        count += 1
                        try database.write { try insert(count...count, into: $0) }
                    default:
                        let other = try openSample(path, options: options)
                        let count = try other.read { try $0.itemCount() } ?? 0
                        if count < 10 { unexpected.withLock { $0.append("\(count) items") } }
                        try other.close()
                    }
                } catch {
                    switch error as? DatabaseError {
                    case .busy, .moved: break
                    default: unexpected.withLock { $0.append("\(error)") }
                    }
                }
            } while !isDone.withLock(\.self)
        }
        #expect(unexpected.withLock(\.self) == [])
        #expect(try database.verifyPages { _, _ in }.damagedPageCount == 0)
    }
}
