import EncryptedSQLite
package import Foundation
package import ObjectGraph
package import SealedStore

/// Opens a store with the key that the writers and their tests share.
package func openCoordinator(
    _ url: URL,
    model: ManagedObjectModel,
    allowsMigration: Bool = true,
    key: UInt8 = 7,
    stages: [StoreMigrationStage] = [],
    history: HistoryOptions? = nil
) throws -> PersistentStoreCoordinator {
    SealedStore.register()
    let coordinator = PersistentStoreCoordinator(model: model)
    var description = try PersistentStoreDescription(
        type: SealedStore.storeType,
        url: url,
        options: [SealedStore.keyOption: EncryptionKey.raw(Array(repeating: key, count: 32))]
    )
    description.shouldMigrateStoreAutomatically = allowsMigration
    if let history { description.options[SealedStore.historyOption] = history }
    if !stages.isEmpty { description.options[SealedStore.migrationStagesOption] = stages }
    try coordinator.addPersistentStore(description)
    return coordinator
}

/// Opens a store with the model that the file contains.
func openRecordedModel(_ url: URL) throws -> PersistentStoreCoordinator {
    SealedStore.register()
    let description = try PersistentStoreDescription(
        type: SealedStore.storeType,
        url: url,
        isReadOnly: true,
        options: [SealedStore.keyOption: EncryptionKey.raw(Array(repeating: 7, count: 32))]
    )
    return try openCoordinator(url, model: SealedStore.model(of: description))
}
