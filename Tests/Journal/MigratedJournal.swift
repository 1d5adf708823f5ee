package import Foundation
package import ObjectGraph
import SealedStore

/// A store with versions of its model, between which every table is rebuilt.
package enum MigratedJournal {
    /// The last version of a staged migration.
    package static let lastVersion = 4

    private static func model(_ version: Int) throws -> ManagedObjectModel {
        let isFirst = version == 1
        // Only the stages lead to these versions.
        let words =
            version > 2
            ? [
                AttributeDescription(
                    "words",
                    version == 3 ? .int64 : .string,
                    defaultValue: version == 3 ? .integer(0) : .text("")
                )
            ] : []
        return try ManagedObjectModel(entities: [
            EntityDescription(
                "Entry",
                attributes: [
                    AttributeDescription("number", isFirst ? .int64 : .string),
                    AttributeDescription("text", isFirst ? .string : .data),
                ] + words,
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

    /// Migrates the store through all versions. The code of the last two stages changes every object, in several saves.
    package static func migrateInStages(_ url: URL) throws {
        var stages = try (1...lastVersion).map { StoreMigrationStage(try model($0)) }
        stages[2].didMigrate = { coordinator in
            try changeAll(coordinator) { $0["words"] = .integer(Int64(text($0["text"]).split(separator: " ").count)) }
        }
        stages[3].willMigrate = { coordinator in
            try changeAll(coordinator) { entry in
                if case .integer(let words) = entry["words"] { entry["words"] = .integer(2 * words) }
            }
        }
        try openCoordinator(url, model: model(lastVersion), stages: stages).removeAllStores()
    }

    private static func changeAll(
        _ coordinator: PersistentStoreCoordinator,
        _ change: (ManagedObject) -> Void
    ) throws {
        let context = ManagedObjectContext(coordinator: coordinator)
        let entries = try context.fetch(FetchRequest(coordinator.model.entities[0]), as: ManagedObject.self)
        for (position, entry) in entries.enumerated() {
            change(entry)
            if position % 500 == 499 { try context.save() }
        }
        try context.save()
    }

    /// The numbers of words that a version has, as a factor of the right ones; nil if they differ or are missing.
    package static func wordFactor(of context: ManagedObjectContext) throws -> Int? {
        let entity = context.model.entities[0]
        guard entity.attribute(named: "words") != nil else { return nil }
        let factors = try context.fetch(FetchRequest(entity), as: ManagedObject.self).map { entry in
            let words = text(entry["text"]).split(separator: " ").count
            return (Int(text(entry["words"])) ?? -1).quotientAndRemainder(dividingBy: words)
        }
        let different = Set(factors.map(\.quotient))
        return different.count == 1 && factors.allSatisfy { $0.remainder == 0 } ? different.first : nil
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
