import Foundation

/// An object of any entity, with its properties reached by name. A program can inherit from it to add behaviour.
///
/// ```swift
/// let book = ManagedObject(entity: model.entitiesByName["Book"]!, insertInto: context)
/// book["title"] = .text("Kokoro")
/// book.setDestination(author, forRelationship: "author")
/// try context.save()
/// ```
open class ManagedObject: GraphObject {
    /// The object's place in a graph and its values.
    @exclusivity(unchecked) public final var _$state: ObjectState
    private var detachedEntity: Entity?

    /// The entity.
    public final var entity: Entity { _$state.handler?.entity ?? Self._$entity(of: self) }

    /// Makes a new object.
    ///
    /// - Parameters:
    ///   - entity: The entity, which must not be abstract.
    ///   - context: The context to insert it into; nil leaves it outside any.
    public required init(entity: Entity, insertInto context: ManagedObjectContext?) {
        precondition(!entity.isAbstract, "entity '\(entity.name)' is abstract: make objects of its subentities")
        _$state = ObjectState(slotCount: entity.slotCount)
        detachedEntity = entity
        context?.insert(self)
    }

    /// Makes an object for a row or fault.
    public required init(_materializing: Materialization) {
        guard let state = ObjectState.materializing(ManagedObject.self) else {
            preconditionFailure("only a context makes objects this way")
        }
        _$state = state
        detachedEntity = state.handler?.entity
    }

    /// ``ManagedObject``, whatever the subclass.
    public final class var _$stateClass: AnyClass { ManagedObject.self }

    /// The entity, for an object that is not in a graph yet.
    public static func _$entity(of object: ManagedObject) -> Entity {
        guard let entity = object.detachedEntity else { preconditionFailure("the object has lost its entity") }
        return entity
    }

    // MARK: Life of an object

    /// Called after the object has been inserted into a context, once in its life.
    open func awakeFromInsert() {}

    /// Called after the object's values have been read from a store: when it is fetched, and when it is a fault that is
    /// filled. What it changes counts as a change.
    open func awakeFromFetch() {}

    /// Called before the object is marked as deleted, by the program or along a delete rule.
    open func prepareForDeletion() {}

    /// Called when a save that will write the object begins. It may change this and other objects, insert and delete:
    /// those that it changes are saved, and told, too. It must not save the context.
    open func willSave() {}

    /// Called after a save that has written the object.
    open func didSave() {}

    /// Throws where the object must not be inserted as it is. The save reports it, together with all other problems. What it
    /// changes is saved; it must not save the context.
    open func validateForInsert() throws {}

    /// Throws where the object must not be updated as it is. The save reports it, together with all other problems.
    open func validateForUpdate() throws {}

    /// Throws where the object must not be deleted. The save reports it, together with all other problems.
    open func validateForDelete() throws {}

    // MARK: Attributes

    /// The value of an attribute, in its stored form.
    ///
    /// - Precondition: The entity has an attribute of the name, and the value is of its type or null.
    public final subscript(name: String) -> Value {
        get {
            let attribute = attribute(named: name)
            let value = storedValue(at: attribute.slot)
            // A row does not tell a UUID from other bytes.
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
    public final func destination(forRelationship name: String) -> (any GraphObject)? {
        destination(at: relationship(named: name, isToMany: false).slot)
    }

    /// Makes a to-one relationship lead to another object, or to none, and its inverse back.
    ///
    /// - Precondition: The entity has a to-one relationship of the name, and the object is of its destination.
    public final func setDestination(_ object: (any GraphObject)?, forRelationship name: String) {
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
    public final func members(forRelationship name: String) -> [any GraphObject] {
        memberObjects(at: relationship(named: name, isToMany: true).slot)
    }

    /// Makes a to-many relationship lead to other objects, and its inverse back.
    ///
    /// - Precondition: The entity has a to-many relationship of the name, and the objects are of its destination.
    public final func setMembers(_ objects: some Sequence<any GraphObject>, forRelationship name: String) {
        let relationship = relationship(named: name, isToMany: true)
        let objects = Array(objects)
        precondition(
            objects.allSatisfy { $0.entity.isKind(ofEntityNamed: relationship.destination.name) },
            "\(entity.name).\(name) leads to \(relationship.destination.name)"
        )
        setMembers(objects, at: relationship.slot)
    }

    /// Adds an object to a to-many relationship, at the end where it is ordered, and makes the inverse lead back. A member
    /// stays where it is.
    ///
    /// - Precondition: The entity has a to-many relationship of the name, and the object is of its destination.
    /// - Complexity: O(1), however many members there are.
    public final func addMember(_ object: any GraphObject, forRelationship name: String) {
        let relationship = relationship(named: name, isToMany: true)
        precondition(
            object.entity.isKind(ofEntityNamed: relationship.destination.name),
            "\(entity.name).\(name) leads to \(relationship.destination.name)"
        )
        addMember(object, at: relationship.slot)
    }

    /// Takes an object out of a to-many relationship, and its inverse back.
    ///
    /// - Precondition: The entity has a to-many relationship of the name.
    /// - Complexity: O(1); the first time, the members are read.
    public final func removeMember(_ object: any GraphObject, forRelationship name: String) {
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

extension Entity {
    /// Whether the entity, or one that it inherits from, has the name.
    func isKind(ofEntityNamed name: String) -> Bool {
        var next: Entity? = self
        while let entity = next {
            if entity.name == name { return true }
            next = entity.superentity
        }
        return false
    }
}
