/// What a ``DataStore`` answers to a request that it does not carry out as it stands.
public enum DataStoreError: Error, Hashable, Sendable {
    /// The store cannot do this.
    case unsupportedFeature
    /// The store cannot evaluate the predicate: it gives all models, and the context filters them.
    case preferInMemoryFilter
    /// The store cannot sort this way: it gives the models in any order, and the context sorts them.
    case preferInMemorySort
    /// The predicate makes no sense to the store.
    case invalidPredicate
}

extension DataStoreError: CustomStringConvertible {
    /// What it means.
    public var description: String {
        switch self {
        case .unsupportedFeature: "the store does not support this"
        case .preferInMemoryFilter: "the store leaves the evaluation of the predicate to the context"
        case .preferInMemorySort: "the store leaves the sorting to the context"
        case .invalidPredicate: "the store cannot make sense of the predicate"
        }
    }
}
