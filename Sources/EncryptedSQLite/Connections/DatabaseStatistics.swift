import Synchronization

/// The work of a database since it was opened. The difference of two values is the work between them.
package struct DatabaseStatistics: Sendable, Equatable {
    /// The number of keys that were derived from a passphrase.
    package var keyDerivations = 0
    /// The number of connections that were opened.
    package var connectionsOpened = 0
    /// The number of statements that were compiled, without those that open connections and delimit transactions.
    package var statementsPrepared = 0
    /// The number of runs of statements (a first step after a reset), without those that open connections and delimit
    /// transactions. The runs of a statement are added when its `withStatement` ends.
    package var statementsRun = 0
    /// The number of write transactions that were committed.
    package var transactionsCommitted = 0

    /// The difference of two snapshots.
    package static func - (later: Self, earlier: Self) -> Self {
        Self(
            keyDerivations: later.keyDerivations - earlier.keyDerivations,
            connectionsOpened: later.connectionsOpened - earlier.connectionsOpened,
            statementsPrepared: later.statementsPrepared - earlier.statementsPrepared,
            statementsRun: later.statementsRun - earlier.statementsRun,
            transactionsCommitted: later.transactionsCommitted - earlier.transactionsCommitted
        )
    }
}

/// The counters of `DatabaseStatistics`, shared by the connections of a database.
final class StatisticsCounters: Sendable {
    let keyDerivations = Atomic(0)
    let connectionsOpened = Atomic(0)
    let statementsPrepared = Atomic(0)
    let statementsRun = Atomic(0)
    let transactionsCommitted = Atomic(0)

    var snapshot: DatabaseStatistics {
        DatabaseStatistics(
            keyDerivations: keyDerivations.load(ordering: .relaxed),
            connectionsOpened: connectionsOpened.load(ordering: .relaxed),
            statementsPrepared: statementsPrepared.load(ordering: .relaxed),
            statementsRun: statementsRun.load(ordering: .relaxed),
            transactionsCommitted: transactionsCommitted.load(ordering: .relaxed)
        )
    }
}

extension Atomic<Int> {
    /// Adds to a counter with relaxed ordering.
    func count(_ amount: Int = 1) {
        wrappingAdd(amount, ordering: .relaxed)
    }
}
