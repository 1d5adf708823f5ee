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
/// larger tokens continues after it in each of them.
public struct DefaultHistoryToken: HistoryToken {
    /// The numbers of transactions, by the identity of their store.
    public let tokenValue: [String: Int64]?
    /// The identity of the store of the transaction to which the token belongs.
    public let storeIdentifier: String

    init(_ numbers: [String: Int64], storeIdentifier: String) {
        tokenValue = numbers
        self.storeIdentifier = storeIdentifier
    }

    /// The sum of the numbers, which rises with each transaction.
    private var position: Int64 { (tokenValue ?? [:]).values.reduce(0, &+) }

    /// The identity.
    public var id: Int { Int(truncatingIfNeeded: position) }

    /// Whether both are the same position.
    public static func == (left: DefaultHistoryToken, right: DefaultHistoryToken) -> Bool {
        left.tokenValue == right.tokenValue
    }

    /// Hashes the numbers.
    public func hash(into hasher: inout Hasher) { hasher.combine(tokenValue) }

    /// Orders the positions in the history of a container.
    public static func < (left: DefaultHistoryToken, right: DefaultHistoryToken) -> Bool {
        if left.position != right.position { return left.position < right.position }
        func sorted(_ token: DefaultHistoryToken) -> [(String, Int64)] {
            (token.tokenValue ?? [:]).sorted { $0.key < $1.key }
        }
        return sorted(left).lexicographicallyPrecedes(sorted(right)) { $0 < $1 }
    }
}
