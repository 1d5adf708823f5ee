import Foundation
import Journal
import ObjectGraph

/// Models with very many columns or entities, which only programs that build them at run time have.
struct ModelMeasurement {
    private(set) var lines: [String] = []

    init(in folder: URL) throws {
        let columns = 1_000
        let wide = EntityDescription(
            "Wide",
            attributes: (0..<columns).map { AttributeDescription("column\($0)", .int64, isOptional: true) }
        )
        try measure(
            "an entity of \(columns) attributes",
            [wide],
            folder.appending(path: "wide.store"),
            columns: columns
        )
        let count = 500
        let many = (0..<count).map { number in
            EntityDescription(
                "Entity\(number)",
                attributes: (0..<8).map { AttributeDescription("column\($0)", .int64, isOptional: true) },
                relationships: number == 0
                    ? [] : [RelationshipDescription("other", to: "Entity\(number - 1)", .one)]
            )
        }
        try measure("\(count) entities", many, folder.appending(path: "many.store"), columns: 8)
    }

    private mutating func measure(
        _ name: String,
        _ entities: [EntityDescription],
        _ file: URL,
        columns: Int
    ) throws {
        var coordinator: PersistentStoreCoordinator?
        let creation = try nanoseconds { coordinator = try open(entities, file) }
        guard let coordinator else { return }
        let context = ManagedObjectContext(coordinator: coordinator)
        let objects = 1_000
        let insertion = try nanoseconds {
            for number in 0..<objects {
                let entity = context.model.entities[number % entities.count]
                let object = ManagedObject(entity: entity, insertInto: context)
                for slot in 0..<columns { object["column\(slot)"] = .integer(Int64(number &* slot)) }
            }
            try context.save()
        }
        let fetch = try nanoseconds {
            let reader = ManagedObjectContext(coordinator: coordinator)
            for entity in context.model.entities {
                for object in try reader.fetch(FetchRequest(entity), as: ManagedObject.self) { _ = object["column0"] }
            }
        }
        let opening = try (0..<7).map { _ in try nanoseconds { _ = try open(entities, file) } }.percentile(0.5)
        lines.append(
            String(
                format: "%@: create %.0f ms, open %.1f ms, insert %.1f µs, fetch %.1f µs for each of 1000 objects",
                name,
                Double(creation) / 1e6,
                opening / 1e6,
                Double(insertion) / Double(objects) / 1e3,
                Double(fetch) / Double(objects) / 1e3
            )
        )
    }

    private func open(_ entities: [EntityDescription], _ file: URL) throws -> PersistentStoreCoordinator {
        try openCoordinator(file, model: ManagedObjectModel(entities: entities))
    }
}
