/// The check of declarations against each other.
struct ModelValidation {
    /// The problems, in the order of the declarations.
    private(set) var problems: [ModelError.Problem] = []

    /// The limits of a row, which has 16 bits each for the entity and the number of slots.
    private static let mostProperties = Int(UInt16.max)
    private static let mostEntities = Int(UInt16.max)
    /// The limit of the depth of inheritance, since linking is recursive.
    private static let mostAncestors = 100

    private let declarations: [EntityDescription]
    private let byName: [String: EntityDescription]

    init(_ declarations: [EntityDescription]) {
        self.declarations = declarations
        byName = Dictionary(declarations.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

        if declarations.count > Self.mostEntities, let last = declarations.last {
            report(last, nil, "the model has more than \(Self.mostEntities) entities")
        }
        var seen: Set<String> = []
        for entity in declarations {
            if entity.name.isEmpty { report(entity, nil, "an entity needs a name") }
            if !seen.insert(entity.name).inserted { report(entity, nil, "two entities have this name") }
            checkInheritance(of: entity)
            checkProperties(of: entity)
            checkLists(of: entity)
        }
    }

    private mutating func report(_ entity: EntityDescription, _ property: String?, _ text: String) {
        problems.append(ModelError.Problem(entity: entity.name, property: property, text: text))
    }

    private mutating func checkInheritance(of entity: EntityDescription) {
        guard let name = entity.superentity else { return }
        guard byName[name] != nil else {
            return report(entity, nil, "its superentity '\(name)' is not in the model")
        }
        let ancestors = ancestors(of: entity)
        if ancestors.contains(where: { $0.name == entity.name }) {
            report(entity, nil, "it inherits from itself")
        } else if ancestors.count > Self.mostAncestors {
            report(entity, nil, "it inherits over more than \(Self.mostAncestors) entities")
        }
    }

    private mutating func checkProperties(of entity: EntityDescription) {
        var names = Set(ancestors(of: entity).flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
        for name in entity.attributes.map(\.name) + entity.relationships.map(\.name) {
            if name.isEmpty { report(entity, name, "a property needs a name") }
            if !names.insert(name).inserted { report(entity, name, "two properties have this name") }
        }
        checkOrder(of: entity)
        if names.count > Self.mostProperties {
            report(entity, nil, "it has more than \(Self.mostProperties) properties")
        }
        for attribute in entity.attributes
        where attribute.allowsExternalStorage && ![.data, .string, .composite].contains(attribute.type) {
            report(entity, attribute.name, "only data and text can be kept outside the row")
        }
        for attribute in entity.attributes {
            if let problem = attribute.validation.contradiction(for: attribute.type) {
                report(entity, attribute.name, problem)
            }
            if let value = attribute.defaultValue, value.isNull || !value.isRepresentable(as: attribute.type) {
                report(entity, attribute.name, "its default value is not of its type")
            }
        }
        for relationship in entity.relationships {
            check(relationship, of: entity)
        }
    }

    private mutating func checkOrder(of entity: EntityDescription) {
        let declared = Set(entity.attributes.map(\.name) + entity.relationships.map(\.name))
        var seen: Set<String> = []
        for name in entity.propertyOrder ?? [] {
            if !declared.contains(name) { report(entity, name, "the property order names it, but it is not declared") }
            if !seen.insert(name).inserted { report(entity, name, "the property order names it twice") }
        }
    }

    private mutating func check(_ relationship: RelationshipDescription, of entity: EntityDescription) {
        if relationship.cardinality == .one, relationship.isOrdered {
            report(entity, relationship.name, "only a to-many relationship can be ordered")
        }
        if relationship.minimumCount < 0 || relationship.maximumCount < 0 {
            report(entity, relationship.name, "a count cannot be negative")
        }
        if relationship.maximumCount > 0, relationship.minimumCount > relationship.maximumCount {
            report(entity, relationship.name, "its minimum count is above its maximum count")
        }
        guard let destination = byName[relationship.destination] else {
            return report(
                entity,
                relationship.name,
                "its destination '\(relationship.destination)' is not in the model"
            )
        }
        if let sharedName = relationship.sharedInverse {
            checkShared(sharedName, of: relationship, of: entity, in: [destination] + ancestors(of: destination))
        }
        guard let inverseName = relationship.inverse else { return }
        let candidates = [destination] + ancestors(of: destination)
        guard let inverse = candidates.lazy.flatMap(\.relationships).first(where: { $0.name == inverseName }) else {
            return report(
                entity,
                relationship.name,
                "its inverse '\(destination.name).\(inverseName)' does not exist"
            )
        }
        guard inverse.inverse == relationship.name else {
            return report(
                entity,
                relationship.name,
                "its inverse '\(destination.name).\(inverseName)' has the inverse \(inverse.inverse.map { "'\($0)'" } ?? "none")"
            )
        }
        let sources = [entity] + ancestors(of: entity)
        if !sources.contains(where: { $0.name == inverse.destination }) {
            report(
                entity,
                relationship.name,
                "its inverse '\(destination.name).\(inverseName)' leads to '\(inverse.destination)'"
            )
        }
    }

    private mutating func checkShared(
        _ sharedName: String,
        of relationship: RelationshipDescription,
        of entity: EntityDescription,
        in candidates: [EntityDescription]
    ) {
        let sources = [entity] + ancestors(of: entity)
        let shared = candidates.lazy.flatMap(\.relationships).first { $0.name == sharedName }
        let leadsBack = sources.contains { $0.name == shared?.destination }
        if relationship.inverse != nil || shared?.inverse != nil || shared?.sharedInverse != nil || !leadsBack {
            report(
                entity,
                relationship.name,
                "its shared inverse '\(relationship.destination).\(sharedName)' is not a one-way relationship that leads "
                    + "to '\(entity.name)'"
            )
        }
    }

    private mutating func checkLists(of entity: EntityDescription) {
        let family = [entity] + ancestors(of: entity)
        let attributes = Dictionary(
            family.lazy.flatMap(\.attributes).map { ($0.name, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let toOnes = Set(family.flatMap { $0.relationships.filter { $0.cardinality == .one }.map(\.name) })
        let stored = toOnes.union(attributes.keys)
        for (kind, list) in entity.indexes.map({ ("index", $0.properties) })
            + entity.uniquenessConstraints.map({ ("uniqueness constraint", $0) })
        {
            if list.isEmpty { report(entity, nil, "one \(kind) names no property") }
            if Set(list).count != list.count { report(entity, nil, "one \(kind) names a property twice") }
            for name in list where !stored.contains(name) {
                report(entity, name, "one \(kind) names it, but it is no attribute or to-one relationship")
            }
        }
        for index in entity.indexes where index.properties.allSatisfy(stored.contains) {
            for problem in IndexValidation(index, attributes: attributes).problems {
                report(entity, problem.property, problem.text)
            }
        }
    }

    /// Returns the ancestors of `entity`, the nearest first. Stops at a cycle, and after one entity more than the
    /// limit.
    private func ancestors(of entity: EntityDescription) -> [EntityDescription] {
        var result: [EntityDescription] = []
        var visited: Set<String> = []
        var next = entity.superentity
        while result.count <= Self.mostAncestors, let name = next, visited.insert(name).inserted,
            let ancestor = byName[name]
        {
            result.append(ancestor)
            next = ancestor.superentity
        }
        return result
    }
}
