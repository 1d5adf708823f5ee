import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore

/// The stores that the tool reads.
enum StoreFixture {
    /// Opens a store, by default with migration turned off.
    static func open(
        _ url: URL,
        _ entities: [EntityDescription],
        passphrase: String = Tool.passphrase,
        key: EncryptionKey? = nil,
        version: String? = nil,
        allowsMigration: Bool = false
    ) throws -> ManagedObjectContext {
        SealedStore.register()
        let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(entities: entities))
        var options: [String: any Sendable] = [SealedStore.keyOption: key ?? .passphrase(passphrase)]
        options[SealedStore.modelVersionOption] = version
        var description = PersistentStoreDescription(type: SealedStore.storeType, url: url, options: options)
        description.shouldMigrateStoreAutomatically = allowsMigration
        try coordinator.addPersistentStore(description)
        return ManagedObjectContext(coordinator: coordinator)
    }

    /// Creates a store with objects, given by entity and values.
    static func create(
        _ url: URL,
        _ entities: [EntityDescription],
        _ objects: [(entity: String, values: [String: Value])] = [],
        passphrase: String = Tool.passphrase,
        key: EncryptionKey? = nil,
        version: String? = nil
    ) throws {
        let context = try open(url, entities, passphrase: passphrase, key: key, version: version)
        for (name, values) in objects {
            guard let entity = context.model.entitiesByName[name] else { continue }
            let object = ManagedObject(entity: entity, insertInto: context)
            for (property, value) in values { object[property] = value }
        }
        try context.save()
        try context.coordinator.removeAllStores()
    }
}
