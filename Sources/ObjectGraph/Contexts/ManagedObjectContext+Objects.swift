extension ManagedObjectContext {
    // MARK: Inserting and deleting

    /// Inserts a new object, together with all related objects that are in no context yet. The next save writes them.
    /// Inserting a deleted object of this context reverts its deletion.
    ///
    /// - Precondition: The object is in no other context, and the model has an entity for its class.
    public func insert(_ object: any GraphObject) {
        guard let context = object.managedObjectContext else { return objectInsertion.insert(object) }
        precondition(context === self, "the object belongs to another context: insert it there, or pass its identifier")
        objectInsertion.reinsert(object)
    }

    /// Inserts a new object of an entity, with its initial values. Its class is the class that the coordinator has for
    /// the entity.
    ///
    /// - Precondition: Objects of the entity are of class ``ManagedObject``, or the entity has its own class.
    package func insertNewObject(of entity: Entity) -> any GraphObject {
        let type = coordinator.objectTypes[entity.index]
        if let type = type as? ManagedObject.Type { return type.init(entity: entity, insertInto: self) }
        precondition(
            self.entity(for: type) == entity,
            "entity '\(entity.name)' has no class of its own: add one to the classes of the coordinator"
        )
        let object = type.blank()
        insert(object)
        return object
    }

    /// Deletes an object with the next save. Its delete rules are applied before the context next returns objects or
    /// changes, at the latest by the save. Does nothing for an object that is in no context or is already deleted.
    ///
    /// - Precondition: The object is in no other context.
    public func delete(_ object: any GraphObject) {
        guard let context = object.managedObjectContext else { return }
        precondition(context === self, "the object belongs to another context: delete it there")
        deletePropagation.delete(object)
    }

    // MARK: Registered objects

    /// All registered objects to which the program refers.
    public var registeredObjects: [any GraphObject] { identityMap.registeredObjects }

    /// The entity of a class of objects; nil if the model has none.
    public func entity(for type: any GraphObject.Type) -> Entity? { identityMap.entity(for: type) }

    /// The registered object with an identifier; nil if no such object is registered. Does not read from the store.
    public func registeredObject(for id: ManagedObjectID) -> (any GraphObject)? {
        loader.registeredObject(for: permanentKeys.current(id))
    }

    /// The object with an identifier: the registered object, or a fault that is filled on first access, which also
    /// detects whether the store has such an object. If entities inherit, the store is read at once. For a temporary
    /// identifier without an object, or an identifier of another store, the result is an object that counts as deleted.
    ///
    /// - Precondition: The model has the identifier's entity.
    public func object(with id: ManagedObjectID) -> any GraphObject {
        loader.object(with: permanentKeys.current(id))
    }

    /// The objects with identifiers of one inheritance, in their order. Objects that are not registered are fetched
    /// with one request. An object that the store does not have is a fault that counts as deleted after its first
    /// access.
    ///
    /// - Precondition: The model has the identifiers' entity.
    public func objects(with ids: some Collection<ManagedObjectID>) -> [any GraphObject] {
        commitMerger.mergeCommits()
        guard let entity = ids.first.flatMap({ model.entitiesByName[$0.entity.name] }) else { return [] }
        let fetched = loader.objects(with: ids.map(\.key), of: model.root(of: entity))
        return withExtendedLifetime(fetched) { ids.map(object) }
    }

    /// The object with an identifier, filled; nil if the store has no such object.
    ///
    /// - Throws: ``ObjectGraphError/unreadable(_:)`` if a registered object cannot be filled; errors of the store.
    public func existingObject(with id: ManagedObjectID) throws -> (any GraphObject)? {
        try loader.existingObject(with: permanentKeys.current(id))
    }

    // MARK: Refreshing

    /// Turns an object into a fault, which is filled from the store on next access.
    ///
    /// - Parameters:
    ///   - object: The object. An object that is new, missing or of another context does not change.
    ///   - mergeChanges: Whether unsaved changes stay. Otherwise they are dropped, including a deletion. Members that
    ///     joined or left a to-many relationship through their own to-one relationship to the object keep that change.
    ///     An object whose deletion is dropped counts as updated and is filled while other objects are deleted: the
    ///     save removes it from the relationships of its deleted owners.
    public func refresh(_ object: any GraphObject, mergeChanges: Bool) {
        guard object.managedObjectContext === self else { return }
        changeReverter.refresh(object, mergeChanges: mergeChanges)
    }

    /// Turns all unchanged objects into faults, which are filled from the store on next access. Changed objects keep
    /// their changes, and their unchanged values are read again. New objects do not change.
    ///
    /// - Complexity: O(number of registered objects), and a statement for the changed objects of each root entity.
    public func refreshAllObjects() {
        processPendingChanges()
        changeReverter.refreshAll()
    }

    // MARK: Permanent identifiers

    /// Assigns permanent identifiers to new objects before they are saved, so that the identifiers can be passed to
    /// other contexts.
    ///
    /// An object keeps its permanent identifier, also if it is rolled back or deleted, and inserted again.
    ///
    /// - Precondition: The objects are in this context.
    /// - Throws: errors of the stores.
    /// - Complexity: O(number of changed objects).
    public func obtainPermanentIDs(for objects: some Sequence<any GraphObject>) throws {
        let new = objects.filter { $0.state.pointee.key < 0 }
        for object in new {
            precondition(object.managedObjectContext === self, "the object is not in the context: insert it first")
        }
        try permanentKeys.obtain(for: new)
    }
}
