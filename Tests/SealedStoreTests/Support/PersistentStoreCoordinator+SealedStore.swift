import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import Testing

extension PersistentStoreCoordinator {
    /// Opens a store of its own coordinator, or creates it; in memory without a URL.
    static func withSealedStore(
        _ url: URL?,
        _ entities: [EntityDescription],
        key: EncryptionKey,
        history: HistoryOptions?,
        duplicateRules: [DuplicateRule] = []
    ) throws -> PersistentStoreCoordinator {
        SealedStore.register()
        let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(entities: entities))
        var options: [String: any Sendable] = [:]
        if url != nil { options[SealedStore.keyOption] = key }
        options[SealedStore.historyOption] = history
        if !duplicateRules.isEmpty { options[SealedStore.duplicateRulesOption] = duplicateRules }
        try coordinator.addPersistentStore(
            PersistentStoreDescription(type: SealedStore.storeType, url: url, options: options)
        )
        return coordinator
    }

    /// The first store.
    var sealedStore: SealedStore {
        get throws { try #require(persistentStores.first as? SealedStore) }
    }
}
