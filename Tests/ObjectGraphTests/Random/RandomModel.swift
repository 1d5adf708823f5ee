import ObjectGraph
import TestSupport

extension SeededGenerator {
    /// A model of a few entities with inheritance, and random relationships among them.
    mutating func model() -> ManagedObjectModel {
        var entities = ["Alpha", "Beta", "Gamma"].map { name in
            EntityDescription(
                name,
                attributes: [.init("n", .int64, isOptional: true), .init("s", .string, isOptional: true)]
            )
        }
        var subentity = EntityDescription(
            "Delta",
            superentity: "Beta",
            attributes: [.init("extra", .int64, isOptional: true)]
        )
        for number in 0..<Int.random(in: 3...7, using: &self) {
            let source = Int.random(in: 0..<4, using: &self)
            let destination = Int.random(in: 0..<4, using: &self)
            let names = ["Alpha", "Beta", "Gamma", "Delta"]
            let isSymmetric = source == destination && chance(30)
            let isOneWay = chance(25)
            let name = "r\(number)"
            let inverseName = isSymmetric ? name : "i\(number)"
            var there = relationship(name, to: names[destination], inverse: isOneWay ? nil : inverseName)
            var back = relationship(inverseName, to: names[source], inverse: name)
            if isSymmetric { there.isOrdered = false }
            if isOneWay, there.deleteRule == .deny { there.deleteRule = .nullify }
            if isSymmetric, there.cardinality == .many { back = there }
            func add(_ relationship: RelationshipDescription, to entity: Int) {
                if entity == 3 {
                    subentity.relationships.append(relationship)
                } else {
                    entities[entity].relationships.append(relationship)
                }
            }
            add(there, to: source)
            if !isOneWay, !isSymmetric { add(back, to: destination) }
        }
        do {
            return try ManagedObjectModel(entities: entities + [subentity])
        } catch {
            fatalError("\(error)")
        }
    }

    private mutating func relationship(_ name: String, to destination: String, inverse: String?)
        -> RelationshipDescription
    {
        let isToMany = chance(50)
        let rules: [RelationshipDescription.DeleteRule] = [.nullify, .nullify, .nullify, .cascade, .noAction, .deny]
        return RelationshipDescription(
            name,
            to: destination,
            isToMany ? .many : .one,
            inverse: inverse,
            deleteRule: pick(rules)!,
            isOrdered: isToMany && chance(30)
        )
    }
}
