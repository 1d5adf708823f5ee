import ObjectGraph
import TestSupport

/// A random model of three hierarchies with relationships of all kinds and rules.
enum RandomExchangeModel {
    static func declarations(_ random: inout SeededGenerator) -> [EntityDescription] {
        let names = ["Ant", "Bee", "Cow", "Doe"]
        var entities = names.map { name in
            EntityDescription(
                name,
                superentity: name == "Doe" ? "Bee" : nil,
                attributes: name == "Doe"
                    ? [.init("x", .int64, isOptional: true)]
                    : [.init("n", .int64, isOptional: true), .init("u", .string, isOptional: true)]
            )
        }
        for index in 0..<3 where random.chance(50) { entities[index].uniquenessConstraints = [["u"]] }
        if random.chance(30) { entities[2].uniquenessConstraints.append(["n", "u"]) }
        if random.chance(30) { entities[3].uniquenessConstraints = [["x"]] }
        for number in 0..<Int.random(in: 3...7, using: &random) {
            let (source, destination) = (
                Int.random(in: 0..<4, using: &random), Int.random(in: 0..<4, using: &random)
            )
            if random.chance(12) {
                addShared(number, source, destination, &entities, &random)
                continue
            }
            let isSymmetric = source == destination && random.chance(40)
            let isOneWay = !isSymmetric && random.chance(25)
            let (name, back) = ("r\(number)", isSymmetric ? "r\(number)" : "i\(number)")
            var there = relationship(name, names[destination], isOneWay ? nil : back, &random)
            if isSymmetric { (there.isOrdered, there.isOptional) = (false, true) }
            if isOneWay, there.deleteRule == .deny { there.deleteRule = .nullify }
            var here = relationship(back, names[source], name, &random)
            if !there.isOptional { here.isOptional = true }
            entities[source].relationships.append(there)
            if !isOneWay, !isSymmetric { entities[destination].relationships.append(here) }
        }
        return entities
    }

    private static func relationship(
        _ name: String,
        _ destination: String,
        _ inverse: String?,
        _ random: inout SeededGenerator
    ) -> RelationshipDescription {
        let isToMany = random.chance(50)
        return RelationshipDescription(
            name,
            to: destination,
            isToMany ? .many : .one,
            inverse: inverse,
            deleteRule: random.pick([.nullify, .nullify, .nullify, .cascade, .noAction, .deny])!,
            isOptional: isToMany || random.chance(75),
            isOrdered: isToMany && random.chance(35)
        )
    }

    private static func addShared(
        _ number: Int,
        _ source: Int,
        _ destination: Int,
        _ entities: inout [EntityDescription],
        _ random: inout SeededGenerator
    ) {
        for side in ["a", "b"] {
            entities[source].relationships.append(
                .init(
                    "r\(number)\(side)",
                    to: entities[destination].name,
                    .many,
                    sharedInverse: "i\(number)",
                    deleteRule: random.pick([.nullify, .cascade, .deny])!,
                    isOrdered: random.chance(35)
                )
            )
        }
        entities[destination].relationships.append(.init("i\(number)", to: entities[source].name, .one))
    }

    static func description(_ declarations: [EntityDescription]) -> String {
        declarations.map { entity in
            "\(entity.name) unique \(entity.uniquenessConstraints)\n"
                + entity.relationships.map {
                    "  \($0.name) to \($0.destination) \($0.cardinality) inverse \($0.inverse ?? $0.sharedInverse ?? "none") "
                        + "\($0.deleteRule)\($0.isOptional ? "" : " required")\($0.isOrdered ? " ordered" : "")"
                }.joined(separator: "\n")
        }.joined(separator: "\n")
    }
}
