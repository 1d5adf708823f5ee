import EncryptedSQLite
import Foundation
import Guarded
import Synchronization
import TestSupport
import Testing

/// Waiting threads get connections in the order of their arrival.
@Suite struct WaitingOrderTests {
    private let folder = TemporaryFolder()
    private let database: Database

    init() throws {
        database = try openSample(folder.filePath("store"), options: sampleOptions { $0.readerCount = 1 })
    }

    // holder                  | thread 0 … 7
    // begins to write         |
    // starts thread n         | waits (the holder sees it in the pool)
    // ends, eight are waiting |
    //                         | 0 writes, 1 writes, … 7 writes
    @Test func `waiting threads write in the order of their arrival`() throws {
        let count = 8
        let order = Guarded<[Int]>([])
        let end = DispatchGroup()
        let database = database
        try database.write { _ in
            for number in 0..<count {
                end.enter()
                Thread {
                    try? database.write { _ in order.withLock { $0.append(number) } }
                    end.leave()
                }.start()
                while database.waitingWriters <= number { sched_yield() }
            }
        }
        end.wait()
        #expect(order.withLock { $0 } == Array(0..<count))
        #expect(database.waitingWriters == 0)
    }

    // busy thread                    | other thread
    // writes, sees a waiting thread  | waits
    // begins the next write, waits   | writes
    // writes after the other thread  |
    @Test func `a thread that writes continuously does not overtake a waiting thread`() throws {
        let database = database
        let served = Atomic(0)
        let comparisons = Atomic(0)
        let overtakings = Atomic(0)
        let isDone = Atomic(false)
        inThreads(2) { number in
            if number == 0 {
                var servedWhenSeen: Int?
                while !isDone.load(ordering: .acquiring) {
                    try? database.write { _ in
                        let now = served.load(ordering: .sequentiallyConsistent)
                        if let servedWhenSeen {
                            comparisons.wrappingAdd(1, ordering: .sequentiallyConsistent)
                            if now == servedWhenSeen { overtakings.wrappingAdd(1, ordering: .sequentiallyConsistent) }
                        }
                        servedWhenSeen = database.waitingWriters > 0 ? now : nil
                    }
                }
            } else {
                while comparisons.load(ordering: .sequentiallyConsistent) < 50 {
                    try? database.write { _ in _ = served.wrappingAdd(1, ordering: .sequentiallyConsistent) }
                }
                isDone.store(true, ordering: .releasing)
            }
        }
        let count = overtakings.load(ordering: .sequentiallyConsistent)
        #expect(count == 0)
    }

    @Test func `a waiting thread opens a connection in place of one that was closed for damage`() throws {
        try database.write { try insert(1...2000, into: $0) }
        try database.close()
        let path = folder.filePath("store")
        try patch(path, at: 20 * 4096 + 123) { $0 ^ 0x80 }
        let damaged = try openSample(path, options: sampleOptions { $0.readerCount = 1 })
        let results = Guarded<[DatabaseError?]>([])
        inThreads(6) { _ in
            let error = databaseError { try damaged.read { try $0.integer("SELECT sum(length(name)) FROM item") } }
            results.withLock { $0.append(error) }
        }
        #expect(results.withLock { $0 } == Array(repeating: .damaged(path: path), count: 6))
    }

    @Test func `closing the database refuses waiting threads`() throws {
        let database = database
        let end = DispatchGroup()
        let closing = DispatchGroup()
        let errors = Guarded<[DatabaseError?]>([])
        try database.write { _ in
            for number in 0..<3 {
                end.enter()
                Thread {
                    let error = databaseError { try database.write { _ in } }
                    errors.withLock { $0.append(error) }
                    end.leave()
                }.start()
                while database.waitingWriters <= number { sched_yield() }
            }
            closing.enter()
            Thread {
                try? database.close()
                closing.leave()
            }.start()
            end.wait()
        }
        closing.wait()
        #expect(errors.withLock { $0 } == [.closed, .closed, .closed])
    }
}
