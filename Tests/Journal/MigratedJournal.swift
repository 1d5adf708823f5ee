package import Foundation
package import ObjectGraph

/// A store with two versions of its model, between which every table is rebuilt.
package enum MigratedJournal {
    private static func model(_ version: Int) throws -> ManagedObjectModel {
        let isFirst = version == 1
        return try ManagedObjectModel(entities: [
            EntityDescription(
                "Entry",
                attributes: [
                    AttributeDescription("number", isFirst ? .int64 : .string),
                    AttributeDescription("text", isFirst ? .string : .data),
                ],
                relationships: [RelationshipDescription("next", to: "Entry", isFirst ? .one : .many)],
                uniquenessConstraints: [["number"]]
            )
        ])
    }

    /// Opens or creates the store with a version of the model.
    package static func open(_ url: URL, version: Int, allowsMigration: Bool = true) throws -> ManagedObjectContext {
        ManagedObjectContext(
            coordinator: try openCoordinator(url, model: model(version), allowsMigration: allowsMigration)
        )
    }

    /// Opens the store with a version of the model, and closes it.
    package static func migrate(_ url: URL, to version: Int) throws {
        try open(url, version: version).coordinator.removeAllStores()
    }

    /// Creates a store of the first version with entries that lead to each other in a ring.
    package static func create(_ url: URL, count: Int) throws {
        let context = try open(url, version: 1)
        let entity = context.model.entities[0]
        let entries = (0..<count).map { number in
            let entry = ManagedObject(entity: entity, insertInto: context)
            entry["number"] = .integer(Int64(number))
            entry["text"] = .text(String(repeating: "entry \(number) ", count: number % 20 + 1))
            return entry
        }
        for (number, entry) in entries.enumerated() {
            entry.setDestination(entries[(number + 1) % count], forRelationship: "next")
        }
        try context.save()
        try context.coordinator.removeAllStores()
    }

    /// The content in a form that does not depend on the version, a line for each entry.
    package static func content(of context: ManagedObjectContext) throws -> [String] {
        let entity = context.model.entities[0]
        return try context.fetch(FetchRequest(entity), as: ManagedObject.self).map { entry in
            let isFirst = !(entity.relationship(named: "next")?.isToMany ?? true)
            let next =
                isFirst ? entry.destination(forRelationship: "next") : entry.members(forRelationship: "next").first
            return "\(text(entry["number"])) \(text(entry["text"])) \(next?.managedObjectID.key ?? 0)"
        }.sorted()
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .integer(let integer): "\(integer)"
        case .text(let text): text
        case .blob(let data): String(decoding: data, as: UTF8.self)
        case .null, .real, .uuid: "?"
        }
    }
}
