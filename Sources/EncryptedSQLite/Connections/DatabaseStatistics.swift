import Synchronization

/// What a database has done since it was opened. Subtract two of them to see what happened in between.
package struct DatabaseStatistics: Sendable, Equatable {
    /// How often a key was derived from a passphrase.
    package var keyDerivations = 0
    /// How many connections were opened.
    package var connectionsOpened = 0
    /// How many statements were compiled, those that open connections and delimit transactions not counted.
    package var statementsPrepared = 0
    /// How many statements were run (a first step after a reset), those that open connections and delimit transactions
    /// not counted. The runs of a statement are added when its `withStatement` ends.
    package var statementsRun = 0
    /// How many write transactions were committed.
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

/// The counters behind `DatabaseStatistics`, shared by the connections of a database.
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
    /// Adds to a counter that orders nothing else.
    func count(_ amount: Int = 1) {
        wrappingAdd(amount, ordering: .relaxed)
    }
}
