import Foundation
import Guarded

/// Keeps the first reads of new connections to a path apart from the replacement of its file by this process.
///
/// SQLite opens the database first, and its log and the index of the log, by their names, at the first read. A connection
/// that opens the old file before a replacement and the new index after it takes itself for the first one of the index,
/// since the system does not show the locks of its own process, and truncates the index. Connections of this process to
/// the new file have that index mapped: their next access to it would end the process.
///
/// `@unchecked Sendable`: the variables are accessed under the lock of the condition only.
final class OpeningGate: @unchecked Sendable {
    private struct Entry {
        weak var gate: OpeningGate?
    }

    private static let known = Guarded<[String: Entry]>([:])

    private let path: String
    private let condition = NSCondition()
    /// The number of first reads that are running.
    private var openings = 0
    /// The number of replacements that have closed the gate, or wait to close it.
    private var closers = 0
    private var isClosed = false

    /// The gate of a path, with symbolic links resolved. Those who use it keep the object.
    static func at(_ path: String) -> OpeningGate {
        known.withLock { known in
            // Not by optional chaining, which Swift 6.3 compiles wrongly for a weak reference if it does not optimize.
            if let entry = known[path], let gate = entry.gate { return gate }
            let gate = OpeningGate(path)
            known[path] = Entry(gate: gate)
            return gate
        }
    }

    private init(_ path: String) { self.path = path }

    deinit {
        let path = path
        Self.known.withLock { known in
            // A new object may have the place already.
            if let entry = known[path], entry.gate == nil { known[path] = nil }
        }
    }

    /// Runs the first read of a connection. Waits while a replacement has closed the gate, or waits to close it.
    func opening<R>(_ body: () throws(DatabaseError) -> R) throws(DatabaseError) -> R {
        condition.lock()
        while closers > 0 { condition.wait() }
        openings += 1
        condition.unlock()
        defer {
            condition.lock()
            openings -= 1
            if openings == 0 { condition.broadcast() }
            condition.unlock()
        }
        return try body()
    }

    /// Closes the gate, until ``open()`` is called. Waits for the first reads that are running.
    func close() {
        condition.lock()
        closers += 1
        while openings > 0 || isClosed { condition.wait() }
        isClosed = true
        condition.unlock()
    }

    func open() {
        condition.lock()
        isClosed = false
        closers -= 1
        condition.broadcast()
        condition.unlock()
    }
}
