import EncryptedSQLite
import Foundation
import Guarded
import ObjectGraph

/// Finds in the history of a store's file the commits of other stores with the file.
///
/// It knows the position in the history up to which the contexts have received the changes. If the history lacks some
/// of the commits since then, or has too many, the changes are unknown.
final class HistoryCursor: Sendable {
    /// The largest number of transactions that are read. If there are more, the changes are unknown.
    static let largestCount = 1000

    private struct State {
        var position: HistoryPosition?
        /// The latest position at which the number of commits was known. It is ``position`` itself unless another
        /// process or thread committed while the position was read.
        var counted: HistoryPosition?
        /// The last rows of the history that the store itself has written and committed without a commit of others in
        /// between.
        var own: ClosedRange<Int64>?
        /// The rows of the history that the running write transaction has written.
        var written: [ClosedRange<Int64>] = []
        /// The reservations of keys by the store itself since ``counted`` was read.
        var reservations = OwnReservations()

        /// Moves the position behind the store's own rows that follow it: the store may delete them from the history.
        mutating func passOwn() {
            guard let last = position?.last, let own, own.lowerBound <= last + 1 else { return }
            position?.last = max(last, own.upperBound)
        }
    }

    private let state = Guarded(State())
    /// Held while changes are read and passed to their receiver: if another thread has read the commit of a caller, the
    /// receiver has its changes when the caller gets the lock. The program's observers are called later: one may commit
    /// to another store with the file, whose observers commit to this store.
    private let announcing = NSLock()

    /// Forgets the position, after the file was opened again: it may be a copy from an earlier time.
    func forget() {
        state.withLock { state in
            state.position = nil
            state.counted = nil
            state.own = nil
            state.reservations = OwnReservations()
        }
    }

    // MARK: Own transactions

    /// Runs a write transaction, or a nested one. The writer connection admits one at a time.
    func writing<R>(isNested: Bool, _ body: () throws -> R) throws -> R {
        let count = state.withLock { state in
            if !isNested { state.written = [] }
            return state.written.count
        }
        do {
            return try body()
        } catch {
            // The outer transaction may still be committed.
            state.withLock { $0.written.removeLast($0.written.count - count) }
            throw error
        }
    }

    /// Records that the running write transaction has written rows of the history.
    func noteWritten(_ rows: ClosedRange<Int64>) { state.withLock { $0.written.append(rows) } }

    /// Returns the rows that the running write transaction has written, before its commit.
    func takeWritten() -> [ClosedRange<Int64>] {
        state.withLock { state in
            defer { state.written = [] }
            return state.written
        }
    }

    /// Records that rows were committed.
    func noteCommit(of written: [ClosedRange<Int64>]) {
        guard !written.isEmpty else { return }
        state.withLock { state in
            for rows in written {
                if let own = state.own, own.upperBound + 1 == rows.lowerBound {
                    state.own = own.lowerBound...rows.upperBound
                } else {
                    state.own = rows
                }
                state.passOwn()
            }
        }
    }

    /// Records that the store has reserved keys.
    ///
    /// - Parameter isCommit: Whether it did so in a separate commit.
    func noteReservation(of keys: Int, isCommit: Bool) {
        state.withLock { state in
            state.reservations.keys += keys
            if isCommit { state.reservations.commits += 1 }
        }
    }

    // MARK: Transactions of others

    /// Begins at the present end of the history.
    func begin(_ store: OpenStore) {
        announcing.withLock { _ = commits(to: store) }
    }

    /// Passes the commits of other stores since the last call to a receiver, and calls the observers.
    func announce(_ store: OpenStore, to receiver: CommitReceiver) {
        let callObservers = announcing.withLock { receiver(commits(to: store)) }
        callObservers()
    }

    private func commits(to store: OpenStore) -> Commit {
        guard !store.readsOtherModel else { return Commit.unknown(.others) }
        var commit = Commit.unknown(.others)
        var next: HistoryPosition?
        let (known, counted, reservations) = state.withLock { ($0.position, $0.counted, $0.reservations) }
        // After an error, or if no connection is free, the changes are unknown.
        try? store.database.readWithoutWaiting { connection in
            guard try store.states.state(on: connection).schema.conditions.history != nil else { return }
            let present = try HistoryPosition(on: connection, after: known)
            next = present
            commit.transaction = present.last
            guard let known, let counted, known.last <= present.last, present.settings.lastDeleted <= known.last
            else { return }
            var request = HistoryFetchRequest(after: known.last, fetchLimit: Self.largestCount + 1)
            request.excludesOwn = true
            request.includesValues = false
            let transactions = try store.transactions(request, present.settings, on: connection)
            guard transactions.count <= Self.largestCount,
                try present.isExplained(after: counted, transactions.count, reservations, on: connection)
            else { return }
            commit = Commit(transactions)
            commit.transaction = present.last
        }
        // If this is not reached, the earlier position stays valid: the next call reads the changes that are now
        // announced as unknown.
        if let next {
            state.withLock { state in
                state.position = next
                state.passOwn()
                guard next.hasExactCounter || counted?.hasExactCounter != true else { return }
                state.counted = next
                state.reservations.keys -= reservations.keys
                state.reservations.commits -= reservations.commits
            }
        }
        return commit
    }
}

/// The reservations of primary keys by one store.
private struct OwnReservations {
    /// The number of keys.
    var keys = 0
    /// The number of commits.
    var commits = 0
}

/// A position in the history of a file, with the traces of commits that are not in the history.
struct HistoryPosition: Sendable {
    /// The largest number of a transaction so far.
    fileprivate(set) var last: Int64
    /// The record of the history, and its text.
    let settings: HistorySettings
    private let settingsText: String
    /// The sum of the sequences, which a reservation of keys increases.
    private let reservedKeys: Double
    /// The record of the exchange, which making and acknowledging a change set changes.
    private let exchange: String?
    private let schemaVersion: Int64
    /// The number of commits of all processes; nil if the file has no log.
    private let commitCounter: CommitCounter?

    /// Reads the present position.
    ///
    /// - Parameter known: An earlier position.
    /// - Throws: ``SealedStoreError`` if the record of the history is missing or damaged.
    init(on connection: Connection, after known: HistoryPosition?) throws {
        last = try HistoryTable.lastKey(on: connection)
        guard let text = try HistorySettings.text(on: connection) else { throw HistoryReader.damage }
        settingsText = text
        if let known, known.settingsText == settingsText {
            settings = known.settings
        } else {
            guard let settings = try HistorySettings.parse(settingsText, on: connection) else {
                throw HistoryReader.damage
            }
            self.settings = settings
        }
        reservedKeys = try PrimaryKeySequences.total(on: connection)
        exchange = try ExchangeRecord.text(on: connection)
        schemaVersion = try connection.schemaVersion()
        commitCounter = connection.commitCounter
    }

    /// Whether the number of commits at this position is known.
    fileprivate var hasExactCounter: Bool { commitCounter?.isExact ?? false }

    /// Whether all commits since an earlier position are in the history, or have changed no object.
    ///
    /// Commits that change no object reserve keys, or change the record of the history or of an exchange, or the
    /// schema.
    ///
    /// - Parameters:
    ///   - others: The number of transactions of other stores since the last announcement.
    ///   - own: The reservations of the store itself since then.
    fileprivate func isExplained(
        after known: HistoryPosition,
        _ others: Int,
        _ own: OwnReservations,
        on connection: Connection
    ) throws -> Bool {
        if reservedKeys > known.reservedKeys + Double(own.keys) || settingsText != known.settingsText
            || exchange != known.exchange || schemaVersion != known.schemaVersion
        {
            return true
        }
        // A commit that is made while the position is read may not be counted yet. The next look at the file, which
        // follows the commit, finds it.
        guard let now = commitCounter, let before = known.commitCounter, before.isExact else { return others > 0 }
        let transactions = try HistoryTable.count(after: known.last, on: connection)
        return Int(now.value &- before.value) <= transactions + own.commits
    }
}
