import EncryptedSQLite
import ObjectGraph

extension StoreReading {
    /// Runs code on the store, in the transaction of the calling thread.
    ///
    /// - Parameter classes: The classes of the objects by entity name.
    func run(
        _ code: StoreMigrationStage.Code,
        classes: [String: any GraphObject.Type] = [:],
        on database: Database
    ) throws {
        let coordinator = PersistentStoreCoordinator(model: model, classes: classes)
        try coordinator.addPersistentStore(SealedStore(attached(to: database)), of: configuration.description)
        defer { try? coordinator.removeAllStores() }
        try code(coordinator)
    }

    /// The store on an open database, in the transaction of the calling thread.
    private func attached(to database: Database) throws -> OpenStore {
        let content = try database.read { try fittingContent(StoreContent.read(on: $0), on: $0) }
        return OpenStore(database, content, FileStates(content, self), ownsDatabase: false)
    }
}
