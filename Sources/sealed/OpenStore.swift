import Foundation
import ObjectGraph
import SealedData
import SealedStore

/// A store that is open for reading, with the model in its metadata.
struct OpenStore {
    /// The metadata of the store.
    let metadata: StoreMetadata
    /// A context on the store; its objects are all of class `ManagedObject`.
    let context: ManagedObjectContext

    init(_ url: URL, key: EncryptionKey) throws {
        let description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            isReadOnly: true,
            options: [SealedStore.keyOption: key]
        )
        SealedStore.register()
        let coordinator = PersistentStoreCoordinator(model: try SealedStore.model(of: description))
        metadata = try coordinator.addPersistentStore(description)
        context = ManagedObjectContext(coordinator: coordinator)
    }

    /// Closes the file.
    func close() { try? context.coordinator.removeAllStores() }

    /// The entities, in the order of their declaration.
    var entities: [Entity] { context.model.entities }

    /// The entity with a name.
    ///
    /// - Throws: ``CommandError/unknownEntity(_:known:)``
    func entity(named name: String) throws -> Entity {
        guard let entity = context.model.entitiesByName[name] else {
            throw CommandError.unknownEntity(name, known: entities.map(\.name))
        }
        return entity
    }
}

/// An error of a command.
enum CommandError: Error, CustomStringConvertible {
    case unknownEntity(String, known: [String])

    var description: String {
        switch self {
        case .unknownEntity(let name, let known):
            "the store has no entity '\(name)', only \(known.joined(separator: ", "))"
        }
    }
}
