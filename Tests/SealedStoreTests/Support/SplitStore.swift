import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore

/// A model whose entities are distributed over two files, `a.store` and `b.store`.
struct SplitStore {
    let coordinator: PersistentStoreCoordinator
    let context: ManagedObjectContext

    /// - Parameters:
    ///   - first: The entities in `a.store`.
    ///   - second: The entities in `b.store`.
    ///   - options: The further options of both files.
    init(
        _ folder: URL,
        _ first: [EntityDescription],
        _ second: [EntityDescription],
        options: [String: any Sendable] = [:]
    ) throws {
        coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(entities: first + second))
        for (name, entities) in [("a", first), ("b", second)] {
            var description = try MigratingStore.description(folder.appending(path: "\(name).store"), options: options)
            description.entityNames = Set(entities.map(\.name))
            try coordinator.addPersistentStore(description)
        }
        context = ManagedObjectContext(coordinator: coordinator)
    }

    func entity(_ name: String) -> Entity { coordinator.model.entitiesByName[name]! }

    @discardableResult
    func insert(_ entity: String, _ values: [String: Value] = [:]) -> ManagedObject {
        let object = ManagedObject(entity: self.entity(entity), insertInto: context)
        for (name, value) in values { object[name] = value }
        return object
    }

    /// The values of an attribute, by key.
    func values(_ entity: String, _ attribute: String) throws -> [Value] {
        try context.fetch(FetchRequest(self.entity(entity)), as: ManagedObject.self)
            .sorted { $0.managedObjectID.key < $1.managedObjectID.key }
            .map { $0[attribute] }
    }

    /// The number of objects with a text.
    func count(_ entity: String, _ attribute: String, equalTo text: String) throws -> Int {
        let property = self.entity(entity).propertiesByName[attribute]!
        let predicate = QueryExpression.comparison(.equal, .path(property), .literal(.text(text)))
        return try context.count(FetchRequest(self.entity(entity), predicate: predicate))
    }

    func close() throws { try coordinator.removeAllStores() }

    /// The problems that the checks of both files find.
    func problems() throws -> [String] {
        try coordinator.model.entities.flatMap { entity in
            guard let store = try coordinator.store(for: entity).store as? SealedStore else { return ["another store"] }
            return try store.check().map(\.description)
        }
    }
}
