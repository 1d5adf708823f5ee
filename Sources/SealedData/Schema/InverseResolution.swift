import ObjectGraph

/// Finds the inverse of every relationship of a set of classes.
///
/// - An inverse that one side names is the inverse of both sides. If both sides name an inverse, they must agree. A
///   relationship may be its own inverse.
/// - Several relationships of a class may name the same inverse, if that relationship names none. They share it, and
///   each keeps separate members.
/// - An explicit `inverse: nil` makes a relationship one-way, unless the other side names it.
/// - Two relationships that name no inverse are inferred as inverses if the choice is unambiguous: each is the only
///   relationship between their classes, or they are the only two relationships of a class that lead to the class
///   itself, one to-one and one to-many. As in SwiftData, a to-one relationship that is not optional is never inferred,
///   because removing the object from the other side's array would leave it without a value.
/// - All other relationships are one-way.
struct InverseResolution {
    /// The problems that were found, in the order of the classes.
    private(set) var problems: [ModelError.Problem] = []

    private let classes: [ModelClass]
    private let indexByType: [ObjectIdentifier: Int]
    /// The classes that stand for classes.
    private let representatives: [ObjectIdentifier: any PersistentModel.Type]
    /// The relationships that are the inverse of more than one relationship.
    private var shared: Set<ObjectIdentifier> = []

    /// - Parameter representatives: The class of the entity of each class that was reached.
    init(_ classes: [ModelClass], _ representatives: [ObjectIdentifier: any PersistentModel.Type]) {
        self.classes = classes
        self.representatives = representatives
        indexByType = Dictionary(
            classes.enumerated().map { (ObjectIdentifier($1.type), $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Sets the inverses of all relationships. Relationships with a problem remain one-way.
    mutating func resolve() {
        shared = sharedInverses
        for model in classes {
            for relationship in model.relationships {
                guard let keyPath = relationship.namedInverse else { continue }
                resolve(relationship, of: model, namedInverse: keyPath)
            }
        }
        for model in classes {
            for relationship in model.relationships { infer(relationship, of: model) }
        }
    }

    // MARK: Named inverses

    private mutating func resolve(
        _ relationship: ModelClass.Relationship,
        of model: ModelClass,
        namedInverse keyPath: AnyKeyPath
    ) {
        let property = relationship.property
        guard let index = indexByType[ObjectIdentifier(relationship.destination)],
            let inverse = inverse(at: keyPath, of: relationship, in: model, destination: classes[index])
        else {
            // A key path without a property is not an inverse.
            if property.inverseName == nil { property.inverseKeyPath = nil }
            return
        }
        if shared.contains(ObjectIdentifier(inverse)) {
            property.state.sharesInverse = true
            property.inverseName = inverse.name
            property.inverseKeyPath = inverse.keypath
        } else if let claimant = inverse.inverseName, claimant != property.name {
            report(
                model,
                property,
                "its inverse \(property.destination).\(inverse.name) is already the inverse of "
                    + "\(model.entity.name).\(claimant)"
            )
        } else if let claimant = property.inverseName, claimant != inverse.name {
            report(
                model,
                property,
                "it names \(property.destination).\(inverse.name) as its inverse, but is already the inverse of "
                    + "\(property.destination).\(claimant)"
            )
        } else {
            link(property, inverse)
        }
    }

    /// The relationships that name no inverse and that several relationships of a class name as their inverse.
    private var sharedInverses: Set<ObjectIdentifier> {
        var claims: [ObjectIdentifier: Int] = [:]
        for relationship in classes.flatMap(\.relationships) {
            guard let keyPath = relationship.namedInverse,
                let root = Swift.type(of: keyPath).rootType as? any PersistentModel.Type,
                let name = PropertyLookup.name(of: keyPath, in: root),
                let index = indexByType[ObjectIdentifier(relationship.destination)],
                let inverse = classes[index].relationships.first(where: { $0.property.name == name }),
                inverse.namedInverse == nil, inverse.property !== relationship.property
            else { continue }
            claims[ObjectIdentifier(inverse.property), default: 0] += 1
        }
        return Set(claims.filter { $0.value > 1 }.keys)
    }

    /// Returns the relationship that an `inverse:` names, and reports the problems of this relationship.
    private mutating func inverse(
        at keyPath: AnyKeyPath,
        of relationship: ModelClass.Relationship,
        in model: ModelClass,
        destination: ModelClass
    ) -> Schema.Relationship? {
        let property = relationship.property
        let root = Swift.type(of: keyPath).rootType
        guard let rootModel = root as? any PersistentModel.Type,
            case let representative = representatives[ObjectIdentifier(rootModel)] ?? rootModel,
            isSame(representative, orAbove: destination.type) || isSame(destination.type, orAbove: representative)
        else {
            report(
                model,
                property,
                "its inverse is a property of \(root), but it leads to \(destination.entity.name)"
            )
            return nil
        }
        guard let name = PropertyLookup.name(of: keyPath, in: rootModel) else {
            report(model, property, "its inverse \(keyPath) is not a persisted property of \(root)")
            return nil
        }
        guard let inverse = destination.relationships.first(where: { $0.property.name == name }) else {
            let declared = destination.entity.storedPropertiesByName[name] != nil
            report(
                model,
                property,
                declared
                    ? "its inverse \(destination.entity.name).\(name) does not lead to a model"
                    : "its inverse \(root).\(name) is not declared by \(destination.entity.name) itself, which it "
                        + "leads to; make it lead to the class that declares the inverse"
            )
            return nil
        }
        guard inverse.destination == model.type else {
            report(
                model,
                property,
                "its inverse \(destination.entity.name).\(name) leads to \(inverse.property.destination)"
            )
            return nil
        }
        if let back = inverse.namedInverse {
            let backName = self.name(of: back, in: model.type)
            guard backName == property.name else {
                report(
                    model,
                    property,
                    "its inverse \(destination.entity.name).\(name) names "
                        + "\(backName.map { "\(model.entity.name).\($0)" } ?? "\(back)") as its inverse"
                )
                return nil
            }
        }
        return inverse.property
    }

    /// The name of a property of a class, or of a class that it stands for.
    private func name(of keyPath: AnyKeyPath, in type: any PersistentModel.Type) -> String? {
        if let name = PropertyLookup.name(of: keyPath, in: type) { return name }
        guard let root = Swift.type(of: keyPath).rootType as? any PersistentModel.Type,
            representatives[ObjectIdentifier(root)] == type
        else { return nil }
        return PropertyLookup.name(of: keyPath, in: root)
    }

    /// Whether `superclass` is `type` or one of its superclasses.
    private func isSame(_ superclass: any PersistentModel.Type, orAbove type: any PersistentModel.Type) -> Bool {
        var next: (any PersistentModel.Type)? = type
        while let current = next {
            if current == superclass { return true }
            next = ModelInheritance.superclass(of: current)
        }
        return false
    }

    // MARK: Inferred inverses

    private func infer(_ relationship: ModelClass.Relationship, of model: ModelClass) {
        guard isOpen(relationship.property), let index = indexByType[ObjectIdentifier(relationship.destination)] else {
            return
        }
        let destination = classes[index]
        let forth = model.relationships.filter { $0.destination == destination.type }
        let inverse: Schema.Relationship
        if destination.type == model.type {
            guard forth.count == 2,
                let other = forth.map(\.property).first(where: { $0 !== relationship.property }),
                other.isToOneRelationship != relationship.property.isToOneRelationship
            else { return }
            inverse = other
        } else {
            let back = destination.relationships.filter { $0.destination == model.type }
            guard forth.count == 1, back.count == 1 else { return }
            inverse = back[0].property
        }
        if isOpen(inverse) { link(relationship.property, inverse) }
    }

    /// Whether an inverse may be inferred for the relationship.
    private func isOpen(_ relationship: Schema.Relationship) -> Bool {
        relationship.infersInverse && relationship.inverseName == nil
            && !shared.contains(ObjectIdentifier(relationship))
            && !(relationship.isToOneRelationship && !relationship.isOptional)
    }

    private func link(_ one: Schema.Relationship, _ other: Schema.Relationship) {
        one.inverseName = other.name
        other.inverseName = one.name
        one.inverseKeyPath = other.keypath
        other.inverseKeyPath = one.keypath
    }

    private mutating func report(_ model: ModelClass, _ property: Schema.Relationship, _ text: String) {
        problems.append(ModelError.Problem(entity: model.entity.name, property: property.name, text: text))
    }
}
