package import Foundation
package import ObjectGraph

/// A store of pairs of entries that refer to each other, written by a process and read by its test.
package enum Journal {
    package static func open(_ url: URL) throws -> ManagedObjectContext {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Entry",
                attributes: [AttributeDescription("number", .int64), AttributeDescription("text", .string)],
                relationships: [RelationshipDescription("other", to: "Entry", .one, inverse: "other")]
            )
        ])
        return ManagedObjectContext(coordinator: try openCoordinator(url, model: model))
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
