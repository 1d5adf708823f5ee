import ObjectGraph
import TestSupport

/// The declarations of a random model. A declaration keeps its number in all versions, whatever its name is.
struct ModelSketch {
    struct Attribute {
        let number: Int
        var name: String
        var formerName: String?
        var type: AttributeType
        var isOptional: Bool
        var defaultValue: Value?
        var index: FetchIndexDescription.Kind?
        var isUnique = false
    }

    struct Relationship {
        let number: Int
        var name: String
        var formerName: String?
        /// The number of the entity.
        var destination: Int
        var isToMany: Bool
        var isOrdered: Bool
        var isOptional = true
        /// The number of the relationship, which the destination declares.
        var inverse: Int?
    }

    struct Entity {
        let number: Int
        var name: String
        var formerName: String?
        /// The number of an entity in front of this one.
        var superentity: Int?
        var isAbstract = false
        var attributes: [Attribute] = []
        var relationships: [Relationship] = []
    }

    /// The name of the attribute that every object has, and by which versions of a store are compared.
    static let identity = "id"

    var entities: [Entity] = []
    private var lastNumber = 0

    /// A random model of a few entities.
    init(_ random: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 2...5, using: &random) { addEntity(&random) }
        for _ in 0..<Int.random(in: 2...8, using: &random) { addAttribute(&random) }
        for _ in 0..<Int.random(in: 1...5, using: &random) { addRelationship(&random) }
    }

    // MARK: Inheritance

    func entity(_ number: Int) -> Entity { entities.first { $0.number == number }! }

    func superentities(_ entity: Entity) -> [Entity] {
        entity.superentity.map { [self.entity($0)] + superentities(self.entity($0)) } ?? []
    }

    func isKind(_ entity: Entity, of number: Int) -> Bool {
        entity.number == number || superentities(entity).contains { $0.number == number }
    }

    func attributes(of entity: Entity) -> [(declaring: Entity, attribute: Attribute)] {
        ([entity] + superentities(entity)).flatMap { entity in entity.attributes.map { (entity, $0) } }
    }

    func relationships(of entity: Entity) -> [(declaring: Entity, relationship: Relationship)] {
        ([entity] + superentities(entity)).flatMap { entity in entity.relationships.map { (entity, $0) } }
    }

    var relationships: [(declaring: Entity, relationship: Relationship)] {
        entities.flatMap { entity in entity.relationships.map { (entity, $0) } }
    }

    func relationship(_ number: Int) -> (declaring: Entity, relationship: Relationship)? {
        relationships.first { $0.relationship.number == number }
    }

    // MARK: Declarations

    var descriptions: [EntityDescription] {
        entities.map { entity in
            var attributes = entity.attributes.map { attribute in
                AttributeDescription(
                    attribute.name,
                    attribute.type,
                    isOptional: attribute.isOptional,
                    renamingIdentifier: attribute.formerName,
                    defaultValue: attribute.defaultValue
                )
            }
            if entity.superentity == nil { attributes.append(AttributeDescription(Self.identity, .int64)) }
            return EntityDescription(
                entity.name,
                superentity: entity.superentity.map { self.entity($0).name },
                isAbstract: entity.isAbstract,
                attributes: attributes,
                relationships: entity.relationships.map { relationship in
                    RelationshipDescription(
                        relationship.name,
                        to: self.entity(relationship.destination).name,
                        relationship.isToMany ? .many : .one,
                        inverse: relationship.inverse.flatMap { self.relationship($0)?.relationship.name },
                        isOptional: relationship.isOptional,
                        isOrdered: relationship.isOrdered,
                        renamingIdentifier: relationship.formerName
                    )
                },
                indexes: entity.attributes.compactMap { attribute in
                    attribute.index.map { FetchIndexDescription([attribute.name], kind: $0) }
                },
                uniquenessConstraints: entity.attributes.filter(\.isUnique).map { [$0.name] },
                renamingIdentifier: entity.formerName
            )
        }
    }

    // MARK: Changes

    /// The model with random changes.
    func changed(_ random: inout SeededGenerator) -> ModelSketch {
        var next = self
        for position in next.entities.indices where random.chance(80) {
            // An identifier may stay in the source, or not.
            next.entities[position].formerName = nil
            for attribute in next.entities[position].attributes.indices {
                next.entities[position].attributes[attribute].formerName = nil
            }
            for relationship in next.entities[position].relationships.indices {
                next.entities[position].relationships[relationship].formerName = nil
            }
        }
        for _ in 0..<Int.random(in: 1...4, using: &random) { next.change(&random) }
        return next
    }

    private mutating func number() -> Int {
        lastNumber += 1
        return lastNumber
    }

    private mutating func change(_ random: inout SeededGenerator) {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: addEntity(&random)
        case 1: removeEntity(&random)
        case 2: renameEntity(&random)
        case 3, 4: changeSuperentity(&random)
        case 5: changeAbstraction(&random)
        case 6, 7: addAttribute(&random)
        case 8: withAttribute(&random) { entity, position, _ in entity.attributes.remove(at: position) }
        case 9, 10: renameProperty(&random)
        case 11: changeType(&random)
        case 12: withAttribute(&random) { entity, position, _ in entity.attributes[position].isOptional.toggle() }
        case 13: moveAttribute(&random)
        case 14: changeIndex(&random)
        case 15: addRelationship(&random)
        case 16: removeRelationship(&random)
        case 17, 18: changeCardinality(&random)
        default: changeInverse(&random)
        }
    }

    private mutating func addEntity(_ random: inout SeededGenerator) {
        let number = number()
        let superentity = random.chance(40) ? random.pick(entities)?.number : nil
        entities.append(Entity(number: number, name: "Entity\(number)", superentity: superentity))
    }

    private mutating func removeEntity(_ random: inout SeededGenerator) {
        let leaves = entities.filter { leaf in !entities.contains { $0.superentity == leaf.number } }
        guard entities.count > 2, let removed = random.pick(leaves) else { return }
        for (_, relationship) in relationships
        where relationship.destination == removed.number
            || removed.relationships.contains(where: { $0.number == relationship.number })
        {
            remove(relationship)
        }
        entities.removeAll { $0.number == removed.number }
    }

    private mutating func renameEntity(_ random: inout SeededGenerator) {
        guard let position = entities.indices.randomElement(using: &random), entities[position].formerName == nil
        else { return }
        entities[position].formerName = entities[position].name
        entities[position].name = "Entity\(number())"
    }

    private mutating func changeSuperentity(_ random: inout SeededGenerator) {
        guard let position = entities.indices.randomElement(using: &random) else { return }
        // In front of it, so that nothing inherits from itself.
        let others = entities[..<position].map(\.number).filter { $0 != entities[position].superentity }
        entities[position].superentity =
            entities[position].superentity != nil && random.chance(50)
            ? nil : others.randomElement(using: &random)
    }

    private mutating func changeAbstraction(_ random: inout SeededGenerator) {
        let parents = entities.indices.filter { parent in
            entities.contains { $0.superentity == entities[parent].number }
        }
        guard let position = parents.randomElement(using: &random) else { return }
        entities[position].isAbstract.toggle()
    }

    // MARK: Attributes

    static let types = AttributeType.allCases

    private mutating func addAttribute(_ random: inout SeededGenerator) {
        guard let position = entities.indices.randomElement(using: &random),
            let type = Self.types.randomElement(using: &random)
        else { return }
        let number = number()
        var attribute = Attribute(number: number, name: "a\(number)", type: type, isOptional: random.chance(60))
        if random.chance(50) {
            attribute.defaultValue = ReferenceConversion.samples(type).randomElement(using: &random)
        }
        entities[position].attributes.append(attribute)
        if random.chance(30) { addIndex(position, entities[position].attributes.count - 1, &random) }
    }

    private mutating func withAttribute(
        _ random: inout SeededGenerator,
        _ change: (inout Entity, Int, inout SeededGenerator) -> Void
    ) {
        let entitiesWithAttributes = entities.indices.filter { !entities[$0].attributes.isEmpty }
        guard let position = entitiesWithAttributes.randomElement(using: &random),
            let attribute = entities[position].attributes.indices.randomElement(using: &random)
        else { return }
        change(&entities[position], attribute, &random)
    }

    private mutating func renameProperty(_ random: inout SeededGenerator) {
        let number = number()
        if random.chance(60) {
            withAttribute(&random) { entity, position, _ in
                guard entity.attributes[position].formerName == nil else { return }
                entity.attributes[position].formerName = entity.attributes[position].name
                entity.attributes[position].name = "a\(number)"
            }
        } else if let relationship = random.pick(relationships)?.relationship, relationship.formerName == nil {
            change(relationship.number) {
                $0.formerName = $0.name
                $0.name = "r\(number)"
            }
        }
    }

    private mutating func changeType(_ random: inout SeededGenerator) {
        withAttribute(&random) { entity, position, random in
            entity.attributes[position].type = Self.types.randomElement(using: &random) ?? .string
            entity.attributes[position].defaultValue = nil
            entity.attributes[position].index = nil
        }
    }

    private mutating func moveAttribute(_ random: inout SeededGenerator) {
        guard let position = entities.indices.filter({ entities[$0].superentity != nil }).randomElement(using: &random),
            let parent = entities.firstIndex(where: { $0.number == entities[position].superentity })
        else { return }
        let (from, to) = random.chance(60) ? (position, parent) : (parent, position)
        guard let attribute = entities[from].attributes.indices.randomElement(using: &random) else { return }
        entities[to].attributes.append(entities[from].attributes.remove(at: attribute))
    }

    private mutating func changeIndex(_ random: inout SeededGenerator) {
        withAttribute(&random) { entity, position, random in
            if random.chance(30) {
                entity.attributes[position].isUnique.toggle()
            } else if entity.attributes[position].index != nil {
                entity.attributes[position].index = nil
            } else {
                entity.attributes[position].index = Self.index(entity.attributes[position].type, &random)
            }
        }
    }

    private mutating func addIndex(_ entity: Int, _ attribute: Int, _ random: inout SeededGenerator) {
        entities[entity].attributes[attribute].index = Self.index(entities[entity].attributes[attribute].type, &random)
    }

    private static func index(_ type: AttributeType, _ random: inout SeededGenerator) -> FetchIndexDescription.Kind {
        switch type {
        case .string where random.chance(60): .fullText(FullTextOptions())
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .float, .double, .date:
            random.chance(50) ? .rtree : .binary
        default: .binary
        }
    }

    // MARK: Relationships

    private mutating func change(_ number: Int, _ change: (inout Relationship) -> Void) {
        for entity in entities.indices {
            for position in entities[entity].relationships.indices
            where entities[entity].relationships[position].number == number {
                change(&entities[entity].relationships[position])
            }
        }
    }

    private mutating func remove(_ relationship: Relationship) {
        if let inverse = relationship.inverse { change(inverse) { $0.inverse = nil } }
        for entity in entities.indices { entities[entity].relationships.removeAll { $0.number == relationship.number } }
    }

    private mutating func newRelationship(to destination: Int, _ random: inout SeededGenerator) -> Relationship {
        let number = number()
        let isToMany = random.chance(50)
        return Relationship(
            number: number,
            name: "r\(number)",
            destination: destination,
            isToMany: isToMany,
            isOrdered: isToMany && random.chance(40)
        )
    }

    private mutating func addRelationship(_ random: inout SeededGenerator) {
        guard let source = entities.indices.randomElement(using: &random),
            let destination = entities.indices.randomElement(using: &random)
        else { return }
        var forward = newRelationship(to: entities[destination].number, &random)
        if random.chance(70) {
            var backward = newRelationship(to: entities[source].number, &random)
            (forward.inverse, backward.inverse) = (backward.number, forward.number)
            entities[destination].relationships.append(backward)
        }
        entities[source].relationships.append(forward)
    }

    private mutating func removeRelationship(_ random: inout SeededGenerator) {
        if let relationship = random.pick(relationships)?.relationship { remove(relationship) }
    }

    private mutating func changeCardinality(_ random: inout SeededGenerator) {
        guard let relationship = random.pick(relationships)?.relationship else { return }
        let kind = Int.random(in: 0..<4, using: &random)
        change(relationship.number) {
            switch kind {
            case 0 where $0.isToMany: $0.isOrdered.toggle()
            case 1 where !$0.isToMany: $0.isOptional.toggle()
            default:
                $0.isToMany.toggle()
                $0.isOrdered = false
                $0.isOptional = true
            }
        }
    }

    private mutating func changeInverse(_ random: inout SeededGenerator) {
        guard let (declaring, relationship) = random.pick(relationships) else { return }
        if let inverse = relationship.inverse {
            change(relationship.number) { $0.inverse = nil }
            change(inverse) { $0.inverse = nil }
            return
        }
        let others = entity(relationship.destination).relationships.filter {
            $0.inverse == nil && $0.destination == declaring.number && $0.number != relationship.number
        }
        if let other = random.pick(others) {
            change(relationship.number) { $0.inverse = other.number }
            change(other.number) { $0.inverse = relationship.number }
        } else {
            var backward = newRelationship(to: declaring.number, &random)
            backward.inverse = relationship.number
            change(relationship.number) { $0.inverse = backward.number }
            let destination = entities.firstIndex { $0.number == relationship.destination }!
            entities[destination].relationships.append(backward)
        }
    }
}
