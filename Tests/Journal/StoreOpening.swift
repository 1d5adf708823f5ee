import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore

/// Opens a store with the key that the writers and their tests share.
func openCoordinator(_ url: URL, model: ManagedObjectModel) throws -> PersistentStoreCoordinator {
    SealedStore.register()
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(
        PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            options: [SealedStore.keyOption: EncryptionKey.raw(Array(repeating: 7, count: 32))]
        )
    )
    return coordinator
}
