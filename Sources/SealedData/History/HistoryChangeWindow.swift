import Foundation
import Guarded
import ObjectGraph

/// The changes of transactions that were read without them, for predicates over changes.
///
/// A predicate sees the transactions in their order: the changes of some successive transactions, bounded in number and
/// size, are read together.
final class HistoryChangeWindow: Sendable {
    /// The largest number of transactions whose changes are kept.
    private static let largestCount = 64
    /// The size from which the changes of no further transaction are read.
    private static let byteCount = 1 << 20

    private let coordinator: PersistentStoreCoordinator
    private let store: UUID
    /// The transactions, without their changes.
    private let transactions: [PersistentHistoryTransaction]
    private let state = Guarded(State())

    private struct State {
        var loaded: [Int64: PersistentHistoryTransaction] = [:]
        var error: (any Error)?
    }

    init(_ coordinator: PersistentStoreCoordinator, _ store: UUID, _ transactions: [PersistentHistoryTransaction]) {
        self.coordinator = coordinator
        self.store = store
        self.transactions = transactions
    }

    /// The changes of a transaction; none if they cannot be read, see ``rethrow()``.
    func changes(of transaction: PersistentHistoryTransaction) -> [PersistentHistoryChange] {
        state.withLock { state in
            if state.loaded[transaction.number] == nil {
                do {
                    state.loaded = try load(from: transaction)
                } catch {
                    state.error = error
                }
            }
            return state.loaded[transaction.number]
        }?.changes ?? []
    }

    private func load(from first: PersistentHistoryTransaction) throws -> [Int64: PersistentHistoryTransaction] {
        let start = transactions.firstIndex { $0.number == first.number } ?? transactions.endIndex
        var numbers: [Int64] = []
        var size = 0
        for transaction in transactions[start...].prefix(Self.largestCount) where size < Self.byteCount {
            numbers.append(transaction.number)
            size += transaction.byteCount
        }
        return try StoreHistory.transactions(numbers, of: store, coordinator)
    }

    /// Throws the error with which the reading of changes has failed, if it has.
    func rethrow() throws {
        if let error = state.withLock({ $0.error }) { throw error }
    }
}
