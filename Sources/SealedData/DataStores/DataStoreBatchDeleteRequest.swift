public import Foundation

/// A batch delete request to a ``DataStoreBatching`` store.
public struct DataStoreBatchDeleteRequest<T: PersistentModel>: Sendable {
    /// The identity of the requester.
    public let editingState: EditingState
    /// The condition; nil deletes all models of the class.
    public let predicate: Predicate<T>?
    /// Whether models of subclasses are deleted, too.
    public let includeSubclasses: Bool

    /// Makes a request.
    public init(
        predicate: Predicate<T>? = nil,
        includeSubclasses: Bool = true,
        editingState: EditingState = EditingState()
    ) {
        self.predicate = predicate
        self.includeSubclasses = includeSubclasses
        self.editingState = editingState
    }
}
