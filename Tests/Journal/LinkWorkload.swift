package import Foundation
package import ObjectGraph
import TestSupport

/// Random changes of a graph with relationships of every kind and delete rule, by a writer with outdated objects, under
/// random merge policies. Many such writers share a store; none may leave a dangling reference.
package struct LinkWorkload {
    private let context: ManagedObjectContext
    private var random: SeededGenerator
    /// The objects that the writer has read earlier.
    private var known: [ManagedObject] = []

    package static func openStore(_ url: URL) throws -> PersistentStoreCoordinator {
        try openCoordinator(url, model: model())
    }

    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Owner",
                attributes: [AttributeDescription("number", .int64, isOptional: true)],
                relationships: [
                    .init("nullified", to: "Item", .many, inverse: "nullifying", deleteRule: .nullify),
                    .init("cascaded", to: "Item", .many, inverse: "cascading", deleteRule: .cascade),
                    .init("denied", to: "Item", .many, inverse: "denying", deleteRule: .deny),
                    .init("ignored", to: "Item", .many, inverse: "ignoring", deleteRule: .noAction),
                    .init("parts", to: "Part", .many, inverse: "whole", deleteRule: .cascade),
                    .init("shared", to: "Item", .many, deleteRule: .cascade),
                    .init("locked", to: "Tag", .many, inverse: "locking", deleteRule: .deny),
                ]
            ),
            EntityDescription(
                "Item",
                attributes: [AttributeDescription("number", .int64, isOptional: true)],
                relationships: [
                    .init("nullifying", to: "Owner", .one, inverse: "nullified"),
                    .init("cascading", to: "Owner", .one, inverse: "cascaded"),
                    .init("denying", to: "Owner", .one, inverse: "denied"),
                    .init("ignoring", to: "Owner", .one, inverse: "ignored"),
                    .init("pointing", to: "Item", .one),
                    .init("tags", to: "Tag", .many, inverse: "items"),
                ]
            ),
            EntityDescription(
                "Part",
                superentity: "Item",
                relationships: [.init("whole", to: "Owner", .one, inverse: "parts", isOptional: false)]
            ),
            EntityDescription(
                "Tag",
                attributes: [AttributeDescription("number", .int64, isOptional: true)],
                relationships: [
                    .init("items", to: "Item", .many, inverse: "tags"),
                    .init("locking", to: "Owner", .many, inverse: "locked"),
                    .init("needs", to: "Part", .one),
                ]
            ),
        ])
    }

    /// Opens a store, performs a number of random operations, and closes the store.
    package static func run(_ url: URL, seed: UInt64, steps: Int) throws {
        let coordinator = try openStore(url)
        var workload = LinkWorkload(coordinator, seed: seed)
        try workload.run(steps: steps)
        try coordinator.removeAllStores()
    }

    package init(_ coordinator: PersistentStoreCoordinator, seed: UInt64) {
        context = ManagedObjectContext(coordinator: coordinator)
        random = SeededGenerator(seed: seed)
    }

    /// Performs a number of random operations.
    ///
    /// - Throws: Errors of the store, except conflicts and refused deletions.
    package mutating func run(steps: Int) throws {
        for _ in 0..<steps {
            do {
                try step()
            } catch ObjectGraphError.validation, ObjectGraphError.conflicts {
                context.rollback()
                known.removeAll { $0.managedObjectContext == nil }
            }
        }
        context.rollback()
    }

    private mutating func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<25: insert()
        case 25..<55: relate()
        case 55..<62: change()
        case 62..<70: if let object = pick() { context.delete(object) }
        case 70..<73: try deleteBatch()
        case 73..<76: try insertBatch()
        case 76..<82: try read()
        default: try save()
        }
    }

    private mutating func insert() {
        let owner = pick("Owner")
        let names = owner == nil ? ["Owner", "Item", "Tag"] : ["Owner", "Item", "Part", "Tag"]
        guard let name = names.randomElement(using: &random), let entity = context.model.entitiesByName[name] else {
            return
        }
        let object = ManagedObject(entity: entity, insertInto: context)
        if name == "Part" { object.setDestination(owner, forRelationship: "whole") }
        known.append(object)
    }

    private mutating func relate() {
        guard let object = pick(),
            let relationship = object.managedObjectID.entity.relationships.randomElement(using: &random)
        else { return }
        let other = pick(relationship.destination.name)
        if relationship.isToMany {
            var members = object.members(forRelationship: relationship.name)
            if let other, !members.contains(where: { $0 === other }) {
                members.append(other)
            } else if !members.isEmpty {
                members.removeLast()
            }
            object.setMembers(members, forRelationship: relationship.name)
        } else {
            object.setDestination(other, forRelationship: relationship.name)
        }
    }

    private mutating func change() {
        pick()?["number"] = .integer(Int64.random(in: 0..<20, using: &random))
    }

    private mutating func deleteBatch() throws {
        guard let entity = context.model.entities.randomElement(using: &random) else { return }
        let number = QueryExpression.path(entity.propertiesByName["number"]!)
        let value = Value.integer(Int64.random(in: 0..<20, using: &random))
        try context.execute(BatchDeleteRequest(entity, predicate: .comparison(.equal, number, .literal(value))))
    }

    private mutating func insertBatch() throws {
        guard let item = context.model.entitiesByName["Item"] else { return }
        let owner =
            pick("Owner").map(\.managedObjectID).flatMap { $0.isTemporary ? nil : Value.integer($0.key) } ?? .null
        try context.execute(BatchInsertRequest(item, objects: [["cascading": owner], ["denying": owner]]))
    }

    private mutating func read() throws {
        var generator = random
        known.removeAll { $0.isObjectDeleted || Bool.random(using: &generator) }
        random = generator
        for entity in context.model.entities where entity.superentity == nil {
            var request = FetchRequest(entity)
            request.limit = 12
            request.offset = Int.random(in: 0..<12, using: &random)
            known += try context.fetch(request, as: ManagedObject.self)
        }
    }

    private mutating func save() throws {
        let policies: [MergePolicy] = [
            .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
        ]
        context.mergePolicy = policies.randomElement(using: &random) ?? .error
        try context.save()
    }

    private mutating func pick(_ entityName: String? = nil) -> ManagedObject? {
        known.filter { object in
            guard let entityName, let entity = context.model.entitiesByName[entityName] else { return true }
            return object.managedObjectID.entity.isKind(of: entity)
        }.randomElement(using: &random)
    }
}
