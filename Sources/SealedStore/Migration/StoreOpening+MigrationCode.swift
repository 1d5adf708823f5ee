import EncryptedSQLite
import ObjectGraph

extension StoreOpening {
    /// Runs code on the store, in the transaction of the calling thread.
    ///
    /// - Parameter classes: The classes of the objects by entity name.
    func run(
        _ code: StoreMigrationStage.Code,
        classes: [String: any GraphObject.Type] = [:],
        on database: Database
    ) throws {
        SealedStore.register()
        var description = description
        description.type = SealedStore.storeType
        description.options[SealedStore.keyOption] = nil
        description.options[SealedStore.databaseOption] = database
        let coordinator = PersistentStoreCoordinator(model: model, classes: classes)
        try coordinator.addPersistentStore(description)
        defer { try? coordinator.removeAllStores() }
        try code(coordinator)
    }
}
