import Foundation
import ObjectGraph

/// A position in the history of encrypted stores: for each store the number of the last transaction before it.
///
/// A token can be encoded, and used by a later launch of the app:
///
/// ```swift
/// var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
/// if let token { descriptor.predicate = #Predicate { $0.token > token } }
/// let news = try context.fetchHistory(descriptor)
/// token = news.last?.token ?? token
/// ```
///
/// The token of a transaction contains the positions in all stores of the container: fetching the transactions with
/// larger tokens continues after that transaction in each store. A predicate compares the token of a transaction with
/// another token by the positions in the store of the transaction, whatever the clocks of the processes that wrote to
/// the stores.
public struct DefaultHistoryToken: HistoryToken {
    /// The numbers of transactions, by the identity of their store.
    public let tokenValue: [String: Int64]?
    /// The identity of the store of the transaction to which the token belongs.
    public let storeIdentifier: String
    /// The times of the transactions, by the identity of their store, as far as they are known. If an earlier copy of a
    /// file takes its place, the same numbers are given again, to transactions with other times.
    private let timestamps: [String: Double]?
    /// Whether the token belongs to a transaction to which a predicate is applied.
    private var isEvaluated = false

    private enum CodingKeys: String, CodingKey {
        case tokenValue, storeIdentifier, timestamps
    }

    init(_ positions: [String: PersistentHistoryPosition], storeIdentifier: String) {
        tokenValue = positions.mapValues(\.number)
        timestamps = positions.compactMapValues { $0.timestamp?.timeIntervalSinceReferenceDate }
        self.storeIdentifier = storeIdentifier
    }

    /// The position in a store. A token from before the store belonged to the container precedes its first transaction.
    ///
    /// A decoded token may contain any number, and the position needs numbers before and after it.
    func position(in store: String) -> PersistentHistoryPosition {
        PersistentHistoryPosition(
            number: min(max(0, tokenValue?[store] ?? 0), .max - 1),
            timestamp: timestamps?[store].map { Date(timeIntervalSinceReferenceDate: $0) }
        )
    }

    /// The token of a transaction to which a predicate is applied.
    var evaluated: DefaultHistoryToken {
        var token = self
        token.isEvaluated = true
        return token
    }

    /// The sum of the numbers, which rises with each transaction.
    private var sum: Int64 { (tokenValue ?? [:]).values.reduce(0, &+) }

    /// The identity.
    public var id: Int { Int(truncatingIfNeeded: sum) }

    // MARK: Comparing

    private enum Order {
        case ascending, same, descending
    }

    /// The order of the transaction to which a predicate is applied, relative to a constant.
    private func order(_ constant: DefaultHistoryToken) -> Order {
        let (own, other) = (position(in: storeIdentifier).number, constant.position(in: storeIdentifier).number)
        if own != other { return own < other ? .ascending : .descending }
        // The last transaction of a store that the constant includes, or the transaction to which the constant belongs.
        return storeIdentifier == constant.storeIdentifier ? .same : .ascending
    }

    /// Whether both are the same position.
    public static func == (left: DefaultHistoryToken, right: DefaultHistoryToken) -> Bool {
        switch (left.isEvaluated, right.isEvaluated) {
        case (true, false): left.order(right) == .same
        case (false, true): right.order(left) == .same
        default: left.tokenValue == right.tokenValue
        }
    }

    /// Hashes the numbers.
    public func hash(into hasher: inout Hasher) { hasher.combine(tokenValue) }

    /// Orders the positions in the history of a container.
    public static func < (left: DefaultHistoryToken, right: DefaultHistoryToken) -> Bool {
        switch (left.isEvaluated, right.isEvaluated) {
        case (true, false): return left.order(right) == .ascending
        case (false, true): return right.order(left) == .descending
        default: break
        }
        if left.sum != right.sum { return left.sum < right.sum }
        func sorted(_ token: DefaultHistoryToken) -> [(String, Int64)] {
            (token.tokenValue ?? [:]).sorted { $0.key < $1.key }
        }
        return sorted(left).lexicographicallyPrecedes(sorted(right)) { $0 < $1 }
    }
}
