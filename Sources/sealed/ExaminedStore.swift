import Foundation
import ObjectGraph
import SealedData
import SealedStore

/// A store that is open for reading, with the model of its last program, or with all that the file holds.
struct ExaminedStore {
    /// The metadata of the store.
    let metadata: StoreMetadata
    /// A context on the store; its objects are all of class `ManagedObject`.
    let context: ManagedObjectContext
    /// The entities and properties that are set aside in the store, unless the context has them.
    let setAside: [SetAside]

    init(_ url: URL, key: EncryptionKey, includesSetAside: Bool = false) throws {
        let description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            isReadOnly: true,
            options: [SealedStore.keyOption: key]
        )
        SealedStore.register()
        let model =
            includesSetAside
            ? try SealedStore.modelWithSetAside(of: description) : try SealedStore.model(of: description)
        setAside = includesSetAside ? [] : try SealedStore.setAside(in: description)
        let coordinator = PersistentStoreCoordinator(model: model)
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
