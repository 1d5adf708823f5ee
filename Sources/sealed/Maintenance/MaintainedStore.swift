import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore

/// A store that is open for maintenance, with the model in its metadata.
struct MaintainedStore {
    let store: SealedStore
    private let coordinator: PersistentStoreCoordinator

    /// Opens a file.
    init(_ file: String, key: EncryptionKey, isReadOnly: Bool) throws {
        var description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: URL(filePath: file, directoryHint: .notDirectory),
            isReadOnly: true,
            options: [SealedStore.keyOption: key]
        )
        SealedStore.register()
        let model = try SealedStore.model(of: description)
        description.isReadOnly = isReadOnly
        coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addPersistentStore(description)
        guard let store = coordinator.persistentStores.first as? SealedStore else {
            preconditionFailure("The registered class opens the store.")
        }
        self.store = store
    }

    /// Closes the file.
    func close() { try? coordinator.removeAllStores() }
}
