import EncryptedSQLite
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct PoolTests {
    let folder = TemporaryFolder()
    let database: Database

    init() throws {
        database = try openSample(folder.filePath("store"), options: sampleOptions { $0.readerCount = 2 })
        try database.write { try insert(1...100, into: $0) }
    }

    @Test func `more callers than readers take turns`() throws {
        let database = database
        let inside = Atomic(0)
        let most = Atomic(0)
        inThreads(8) { _ in
            for _ in 0..<50 {
                try? database.read { connection in
                    let count = inside.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
                    most.max(count, ordering: .sequentiallyConsistent)
                    #expect((try? connection.itemCount()) == 100)
                    inside.wrappingSubtract(1, ordering: .sequentiallyConsistent)
                }
            }
        }
        let largest = most.load(ordering: .sequentiallyConsistent)
        #expect(largest <= 2)
        #expect(database.statistics.connectionsOpened <= 4, "a creator, a writer and two readers")
    }

    @Test func `nested reads share a connection`() throws {
        try database.read { first in
            try database.read { second in
                #expect(first === second)
                try database.read { third in #expect(third === first) }
            }
        }
    }

    @Test func `nested reads do not wait for each other when all readers are in use`() throws {
        let database = database
        let barrier = Barrier(count: 2)
        inThreads(2) { _ in
            try? database.read { _ in
                barrier.arrive()
                #expect((try? database.read { try $0.itemCount() }) == 100)
            }
        }
    }

    @Test func `writers take turns`() throws {
        let database = database
        inThreads(8) { number in
            do {
                for step in 0..<20 {
                    let identifier = 1000 + number * 20 + step
                    try database.write { try insert(identifier...identifier, into: $0) }
                }
            } catch {
                Issue.record(error)
            }
        }
        #expect(try database.read { try $0.itemCount() } == 260)
    }

    @Test func `a closed database throws closed`() throws {
        try database.close()
        #expect(databaseError { try database.read { _ in } } == .closed)
        #expect(databaseError { try database.write { _ in } } == .closed)
        try database.close()
    }

    @Test func `closing waits for reads`() throws {
        let database = database
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
        try database.close()
        let wasDone = isDone.load(ordering: .sequentiallyConsistent)
        #expect(wasDone)
        #expect(try folder.names() == ["store"])
    }
}
