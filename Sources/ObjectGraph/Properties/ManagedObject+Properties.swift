import Foundation

// Attributes and relationships by name.

extension ManagedObject {
    // MARK: Attributes

    /// The value of an attribute, in its stored form.
    ///
    /// - Precondition: The entity has an attribute of the name, and the value is of its type or null.
    public subscript(name: String) -> Value {
        get {
            let attribute = attribute(named: name)
            let value = _$storedValue(at: attribute.slot)
            // A row does not distinguish a UUID from other bytes.
            return attribute.type == .uuid ? UUID(storedValue: value).map(Value.uuid) ?? value : value
        }
        set {
            let attribute = attribute(named: name)
            precondition(newValue.fits(attribute.type), "\(entity.name).\(name) takes no value of this form")
            setSlotValue(.value(newValue), at: attribute.slot)
        }
    }

    /// The object that a to-one relationship leads to.
    ///
    /// - Precondition: The entity has a to-one relationship of the name.
    public func destination(forRelationship name: String) -> (any GraphObject)? {
        destination(at: relationship(named: name, isToMany: false).slot)
    }

    /// Makes a to-one relationship lead to another object, or to none, and updates the inverse.
    ///
    /// - Precondition: The entity has a to-one relationship of the name, and the object is of its destination.
    public func setDestination(_ object: (any GraphObject)?, forRelationship name: String) {
        let relationship = relationship(named: name, isToMany: false)
        precondition(
            object.map { $0.entity.isKind(ofEntityNamed: relationship.destination.name) } ?? true,
            "\(entity.name).\(name) leads to \(relationship.destination.name)"
        )
        setDestination(object, at: relationship.slot)
    }

    /// The objects that a to-many relationship leads to.
    ///
    /// - Precondition: The entity has a to-many relationship of the name.
    public func members(forRelationship name: String) -> [any GraphObject] {
        memberObjects(at: relationship(named: name, isToMany: true).slot)
    }

    /// Makes a to-many relationship lead to other objects, and updates the inverse.
    ///
    /// - Precondition: The entity has a to-many relationship of the name, and the objects are of its destination.
    public func setMembers(_ objects: some Sequence<any GraphObject>, forRelationship name: String) {
        let relationship = relationship(named: name, isToMany: true)
        let objects = Array(objects)
        precondition(
            objects.allSatisfy { $0.entity.isKind(ofEntityNamed: relationship.destination.name) },
            "\(entity.name).\(name) leads to \(relationship.destination.name)"
        )
        setMembers(objects, at: relationship.slot)
    }

    /// Adds an object to a to-many relationship, at the end if it is ordered, and updates the inverse. A member keeps
    /// its place.
    ///
    /// - Precondition: The entity has a to-many relationship of the name, and the object is of its destination.
    /// - Complexity: O(1), however many members there are.
    public func addMember(_ object: any GraphObject, forRelationship name: String) {
        let relationship = relationship(named: name, isToMany: true)
        precondition(
            object.entity.isKind(ofEntityNamed: relationship.destination.name),
            "\(entity.name).\(name) leads to \(relationship.destination.name)"
        )
        addMember(object, at: relationship.slot)
    }

    /// Removes an object from a to-many relationship, and updates the inverse.
    ///
    /// - Precondition: The entity has a to-many relationship of the name.
    /// - Complexity: O(1); the first time, the members are read.
    public func removeMember(_ object: any GraphObject, forRelationship name: String) {
        removeMember(object, at: relationship(named: name, isToMany: true).slot)
    }

    private func attribute(named name: String) -> Attribute {
        guard let attribute = entity.attribute(named: name) else {
            preconditionFailure("entity '\(entity.name)' has no attribute '\(name)'")
        }
        return attribute
    }

    private func relationship(named name: String, isToMany: Bool) -> Relationship {
        guard let relationship = entity.relationship(named: name), relationship.isToMany == isToMany else {
            preconditionFailure("entity '\(entity.name)' has no to-\(isToMany ? "many" : "one") relationship '\(name)'")
        }
        return relationship
    }
}
