import Foundation

/// An object of any entity, whose properties are accessed by name. A program can inherit from it to add behaviour.
///
/// ```swift
/// let book = ManagedObject(entity: model.entitiesByName["Book"]!, insertInto: context)
/// book["title"] = .text("Kokoro")
/// book.setDestination(author, forRelationship: "author")
/// try context.save()
/// ```
open class ManagedObject: GraphObject {
    /// The object's handler, identity and values.
    @exclusivity(unchecked) public final var _$state: ObjectState
    private var detachedEntity: Entity?

    /// The entity.
    public final var entity: Entity { _$state.handler?.entity ?? Self._$entity(of: self) }

    /// Creates a new object.
    ///
    /// - Parameters:
    ///   - entity: The entity, which must not be abstract.
    ///   - context: The context of the object; nil for an object outside any context.
    public required init(entity: Entity, insertInto context: ManagedObjectContext?) {
        precondition(!entity.isAbstract, "entity '\(entity.name)' is abstract: make objects of its subentities")
        _$state = ObjectState(slotCount: entity.slotCount)
        detachedEntity = entity
        context?.insert(self)
    }

    /// Creates an object for a row or fault.
    public required init(_materializing: Materialization) {
        guard let state = ObjectState.materializing(ManagedObject.self) else {
            preconditionFailure("only a context makes objects this way")
        }
        _$state = state
        detachedEntity = state.handler?.entity
    }

    /// ``ManagedObject``, also for subclasses.
    public final class var _$stateClass: AnyClass { ManagedObject.self }

    /// The entity of an object that is not in a graph yet.
    public static func _$entity(of object: ManagedObject) -> Entity {
        guard let entity = object.detachedEntity else { preconditionFailure("the object has lost its entity") }
        return entity
    }

    // MARK: Lifecycle

    /// Called once after the object is first inserted into a context.
    open func awakeFromInsert() {}

    /// Called after the object's values have been read from a store: when it is fetched, and when a fault is filled.
    /// Changes that it makes are unsaved changes.
    open func awakeFromFetch() {}

    /// Called before the object is marked as deleted, by the program or along a delete rule.
    open func prepareForDeletion() {}

    /// Called at the beginning of a save that will write the object. It may change, insert and delete this and other
    /// objects: changed objects are saved too, after their own `willSave()`. It must not save the context.
    open func willSave() {}

    /// Called after a save that has written the object.
    open func didSave() {}

    /// Throws if the object must not be inserted in its current state. The save throws the problem together with all
    /// others. Changes that the method makes are saved; it must not save the context.
    open func validateForInsert() throws {}

    /// Throws if the object must not be updated in its current state. The save throws the problem together with all
    /// others.
    open func validateForUpdate() throws {}

    /// Throws if the object must not be deleted. The save throws the problem together with all others.
    open func validateForDelete() throws {}
}

extension Entity {
    /// Whether the entity or a superentity has the name.
    func isKind(ofEntityNamed name: String) -> Bool {
        var next: Entity? = self
        while let entity = next {
            if entity.name == name { return true }
            next = entity.superentity
        }
        return false
    }
}
