import EncryptedSQLite
package import Foundation
package import ObjectGraph
import SealedStore

/// The store that the writer writes and its test reads: pairs of entries that refer to each other.
package enum Journal {
    package static func open(_ url: URL) throws -> ManagedObjectContext {
        SealedStore.register()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Entry",
                attributes: [AttributeDescription("number", .int64), AttributeDescription("text", .string)],
                relationships: [RelationshipDescription("other", to: "Entry", .one, inverse: "other")]
            )
        ])
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: url,
                options: [SealedStore.keyOption: EncryptionKey.raw(Array(repeating: 7, count: 32))]
            )
        )
        return ManagedObjectContext(coordinator: coordinator)
    }

    package static func writePair(_ number: Int64, in context: ManagedObjectContext) throws {
        let entity = context.model.entities[0]
        let left = ManagedObject(entity: entity, insertInto: context)
        let right = ManagedObject(entity: entity, insertInto: context)
        for entry in [left, right] {
            entry["number"] = .integer(number)
            entry["text"] = .text(String(repeating: "entry \(number) ", count: Int(number % 200) + 1))
        }
        left.setDestination(right, forRelationship: "other")
        try context.save()
    }
}
