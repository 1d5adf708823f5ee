import ObjectGraph
import SealedStore

/// The reason for which a container cannot choose the store of an operation.
public enum StoreSelectionError: Error, Hashable, Sendable {
    /// The container has several encrypted stores, and no configuration was given; the number of stores.
    case severalStores(Int)
    /// The container has no encrypted store of the configuration; the name of the configuration, or nil for a container
    /// without encrypted stores.
    case noStore(configuration: String?)
}

extension StoreSelectionError: CustomStringConvertible {
    /// The reason and the remedy.
    public var description: String {
        switch self {
        case .severalStores(let count):
            "the container has \(count) encrypted stores: name the configuration of one of them"
        case .noStore(let name?): "the container has no encrypted store of configuration '\(name)'"
        case .noStore(nil): "the container has no encrypted store"
        }
    }
}

extension ModelContainer.Stores {
    /// The encrypted store of a configuration; for nil, the only encrypted store.
    ///
    /// - Throws: ``StoreSelectionError``.
    func store(of configuration: ModelConfiguration?) throws -> SealedStore {
        let all = coordinator.persistentStores.compactMap { $0 as? SealedStore }
        guard let configuration else {
            guard let store = all.first else { throw StoreSelectionError.noStore(configuration: nil) }
            guard all.count == 1 else { throw StoreSelectionError.severalStores(all.count) }
            return store
        }
        let names = configuration.schema.map { Set($0.entities.map(\.name)) }
        let store = all.first { store in
            guard configuration.isStoredInMemoryOnly else {
                return store.description.url?.standardizedFileURL == configuration.url.standardizedFileURL
            }
            return store.description.url == nil && (names == nil || store.description.entityNames == names)
        }
        guard let store else { throw StoreSelectionError.noStore(configuration: configuration.name) }
        return store
    }
}
