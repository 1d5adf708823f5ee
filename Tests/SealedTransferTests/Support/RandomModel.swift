import Foundation
import ObjectGraph
import TestSupport

/// Random models and objects.
enum RandomModel {
    /// A model of a few entities with inheritance, and with relationships of all kinds.
    static func make(_ generator: inout SeededGenerator) throws -> ManagedObjectModel {
        let names = ["Zone", "a b", "Élan", "select", "x,\"y\"", "Part"].shuffled(using: &generator)
        var entities: [EntityDescription] = []
        for name in names.prefix(Int.random(in: 1...5, using: &generator)) {
            var entity = EntityDescription(name)
            if generator.chance(40) { entity.superentity = generator.pick(entities)?.name }
            entity.isAbstract = generator.chance(15)
            for index in 0..<Int.random(in: 0...6, using: &generator) {
                let type = generator.pick(AttributeType.allCases)!
                entity.attributes.append(
                    AttributeDescription(
                        "\(name) \(index)",
                        type,
                        isOptional: true,
                        allowsExternalStorage: type == .data
                    )
                )
            }
            entities.append(entity)
        }
        for index in 0..<Int.random(in: 0...6, using: &generator) {
            let (source, target) = (
                entities.indices.randomElement(using: &generator)!, entities.indices.randomElement(using: &generator)!
            )
            let (name, inverse) = ("to \(index)", "from \(index)")
            let hasInverse = generator.chance(75)
            func relationship(_ name: String, _ destination: Int, _ inverse: String) -> RelationshipDescription {
                let isMany = generator.chance(60)
                return RelationshipDescription(
                    name,
                    to: entities[destination].name,
                    isMany ? .many : .one,
                    inverse: hasInverse ? inverse : nil,
                    isOrdered: isMany && generator.chance(50)
                )
            }
            entities[source].relationships.append(relationship(name, target, inverse))
            if hasInverse { entities[target].relationships.append(relationship(inverse, source, name)) }
        }
        return try ManagedObjectModel(entities: entities)
    }

    /// Adds random objects to a store.
    static func fill(_ store: TestStore, _ generator: inout SeededGenerator) throws {
        var values = RandomValues(generator)
        var objects: [ManagedObject] = []
        for entity in store.context.model.entities where !entity.isAbstract {
            for _ in 0..<Int.random(in: 0...15, using: &values.generator) {
                let object = store.insert(entity.name)
                for attribute in entity.attributes { object[attribute.name] = values.next(attribute.type) }
                objects.append(object)
            }
        }
        generator = values.generator
        for object in objects {
            for relationship in object.managedObjectID.entity.relationships where generator.chance(50) {
                let candidates = objects.filter { $0.managedObjectID.entity.isKind(of: relationship.destination) }
                if relationship.isToMany {
                    let members = candidates.shuffled(using: &generator).prefix(
                        Int.random(in: 0...4, using: &generator)
                    )
                    object.setMembers(Array(members), for: relationship.name)
                } else {
                    object.set(generator.pick(candidates), for: relationship.name)
                }
            }
        }
        try store.context.save()
    }
}
