import Foundation

// Attributes and relationships by name.

extension ManagedObject {
    // MARK: Attributes

    /// The value of an attribute, in its stored form.
    ///
    /// - Precondition: The entity has an attribute with this name, and the value is of its type or null.
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

    /// The destination of a to-one relationship.
    ///
    /// - Precondition: The entity has a to-one relationship with this name.
    public func destination(forRelationship name: String) -> (any GraphObject)? {
        destination(at: relationship(named: name, isToMany: false).slot)
    }

    /// Sets the destination of a to-one relationship, which may be nil, and updates the inverse.
    ///
    /// - Precondition: The entity has a to-one relationship with this name, and the object is of its destination.
    public func setDestination(_ object: (any GraphObject)?, forRelationship name: String) {
        let relationship = relationship(named: name, isToMany: false)
        precondition(
            object.map { $0.entity.isKind(ofEntityNamed: relationship.destination.name) } ?? true,
            "\(entity.name).\(name) leads to \(relationship.destination.name)"
        )
        setDestination(object, at: relationship.slot)
    }

    /// The members of a to-many relationship.
    ///
    /// - Precondition: The entity has a to-many relationship with this name.
    public func members(forRelationship name: String) -> [any GraphObject] {
        memberObjects(at: relationship(named: name, isToMany: true).slot)
    }

    /// Sets the members of a to-many relationship, and updates the inverses.
    ///
    /// - Precondition: The entity has a to-many relationship with this name, and the objects are of its destination.
    public func setMembers(_ objects: some Sequence<any GraphObject>, forRelationship name: String) {
        let relationship = relationship(named: name, isToMany: true)
        let objects = Array(objects)
        precondition(
            objects.allSatisfy { $0.entity.isKind(ofEntityNamed: relationship.destination.name) },
            "\(entity.name).\(name) leads to \(relationship.destination.name)"
        )
        setMembers(objects, at: relationship.slot)
    }

    /// Adds an object to a to-many relationship, at the end if it is ordered, and updates the inverse. An object that
    /// is already a member keeps its position.
    ///
    /// - Precondition: The entity has a to-many relationship with this name, and the object is of its destination.
    /// - Complexity: O(1), independent of the number of members.
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
    /// - Precondition: The entity has a to-many relationship with this name.
    /// - Complexity: O(1); the first call reads the members.
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
