/// An error of a ``DataStore`` for a request that it does not support, or leaves to the context.
public enum DataStoreError: Error, Hashable, Sendable {
    /// The store does not support the request.
    case unsupportedFeature
    /// The store cannot evaluate the predicate: it returns all models, and the context filters them.
    case preferInMemoryFilter
    /// The store cannot sort this way: it returns the models in any order, and the context sorts them.
    case preferInMemorySort
    /// The predicate is invalid for the store.
    case invalidPredicate
}

extension DataStoreError: CustomStringConvertible {
    /// The meaning of the error.
    public var description: String {
        switch self {
        case .unsupportedFeature: "the store does not support this"
        case .preferInMemoryFilter: "the store leaves the evaluation of the predicate to the context"
        case .preferInMemorySort: "the store leaves the sorting to the context"
        case .invalidPredicate: "the predicate is invalid for the store"
        }
    }
}
