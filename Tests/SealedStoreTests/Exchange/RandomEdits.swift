import Foundation
@testable import ObjectGraph
import TestSupport

/// Random saves in a store of any model.
enum RandomEdits {
    /// Makes a few random changes, and saves them.
    ///
    /// - Throws: errors of the save: the changes can violate a rule.
    static func perform(_ branch: Branch, _ random: inout SeededGenerator) throws {
        let context = ManagedObjectContext(coordinator: branch.coordinator)
        context.mergePolicy = .mergeByPropertyObjectTrump
        let entities = branch.coordinator.model.entities
        var objects: [Int: [ManagedObject]] = [:]
        for entity in entities where entity.isRoot {
            objects[entity.index] = try context.fetch(FetchRequest(entity), as: ManagedObject.self)
        }
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let entity = random.pick(entities.filter { !$0.isAbstract })!
            if random.chance(40) {
                insert(entity, context, &objects, &random)
                continue
            }
            let present = objects[entity.rootIndex, default: []]
            guard let object = random.pick(present), !object.state.pointee.life.isDeleted else { continue }
            if random.chance(20) {
                context.delete(object)
            } else {
                change(object, objects, &random)
            }
        }
        try context.save()
    }

    private static func insert(
        _ entity: Entity,
        _ context: ManagedObjectContext,
        _ objects: inout [Int: [ManagedObject]],
        _ random: inout SeededGenerator
    ) {
        let object = ManagedObject(entity: entity, insertInto: context)
        for attribute in object.entity.attributes where !attribute.isOptional || random.chance(30) {
            object[attribute.name] = value(of: attribute, &random)
        }
        for relationship in object.entity.relationships
        where !relationship.isToMany && (!relationship.isOptional || random.chance(30)) {
            object.setDestination(random.pick(others(relationship, objects)), forRelationship: relationship.name)
        }
        objects[entity.rootIndex, default: []].append(object)
    }

    private static func others(_ relationship: Relationship, _ objects: [Int: [ManagedObject]]) -> [ManagedObject] {
        objects[relationship.destination.rootIndex, default: []].filter {
            !$0.state.pointee.life.isDeleted && $0.entity.isKind(of: relationship.destination)
        }
    }

    private static func value(of attribute: Attribute, _ random: inout SeededGenerator) -> Value {
        if attribute.isOptional, random.chance(25) { return .null }
        let number = Int64(random.next() % 8)
        return switch attribute.type {
        case .string:
            .text(random.chance(20) ? "e\u{301}\(number)" : random.chance(20) ? "\u{e9}\(number)" : "\(number)")
        case .decimal: Decimal(number).storedValue
        case .data: .blob(Data(repeating: UInt8(number), count: random.chance(50) ? 3 : 9000))
        case .double, .date: .real(random.chance(20) ? -0.0 : Double(number))
        default: .integer(number)
        }
    }

    private static func change(
        _ object: ManagedObject,
        _ objects: [Int: [ManagedObject]],
        _ random: inout SeededGenerator
    ) {
        guard let property = random.pick(object.entity.properties) else { return }
        switch property {
        case .attribute(let attribute): object[attribute.name] = value(of: attribute, &random)
        case .relationship(let relationship):
            guard let other = random.pick(others(relationship, objects)) else { return }
            if !relationship.isToMany {
                let isCleared = relationship.isOptional && random.chance(25)
                object.setDestination(isCleared ? nil : other, forRelationship: relationship.name)
            } else if random.chance(30), let member = object.memberObjects(at: relationship.slot).first {
                object.removeMember(member, at: relationship.slot)
            } else {
                object.addMember(other, at: relationship.slot)
            }
        }
    }
}
