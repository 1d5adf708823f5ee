/// An error of a request to the history of a store.
public enum PersistentHistoryError: Error, Hashable, Sendable {
    /// The store does not record its transactions.
    case notRecorded
    /// Transactions after the transaction that the caller knows were deleted, up to the given number: the caller may
    /// have missed changes, and has to read the objects again. Likewise if the caller knows a transaction that the
    /// history does not have, after a store was replaced by an earlier backup.
    case expired(lastDeleted: Int64)
    /// The request names a store that the coordinator does not have, or no store although the coordinator has several.
    case noStore
}

extension PersistentHistoryError: CustomStringConvertible {
    /// The problem and its remedy.
    public var description: String {
        switch self {
        case .notRecorded: "the store does not record its history: open it with the option for history once"
        case .expired(let last): "the history up to transaction \(last) was deleted: read the objects again"
        case .noStore: "the request must name one of the coordinator's stores"
        }
    }
}
