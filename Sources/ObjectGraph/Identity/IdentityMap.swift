import Foundation

/// The objects of a context: one object for each row, found by entity and primary key.
///
/// - Invariant: A registered object has the key under which it is registered, and the handler of its entity in this
///   map. New objects are registered under temporary, negative keys; a save registers them again under their permanent
///   keys.
final class IdentityMap {
    let model: ManagedObjectModel
    /// The handlers of the entities, at their ``Entity/index``.
    let handlers: [FaultHandler]
    /// Whether the entities have composite attributes, at their ``Entity/index``.
    var haveComposites: [Bool] { coordinator.objectTypes.haveComposites }
    @exclusivity(unchecked) private var lastHandler: (type: ObjectIdentifier, handler: Unmanaged<FaultHandler>)?
    private let coordinator: PersistentStoreCoordinator
    /// The map of the parent context.
    private let parent: IdentityMap?
    /// The permanent keys that were assigned to new objects before their save, by their temporary keys. No access calls
    /// the program.
    @exclusivity(unchecked) private var permanentKeys: [Int64: Int64] = [:]
    /// The permanent keys of objects whose temporary identifiers the program has read, by their temporary keys.
    @exclusivity(unchecked) private var keysOfIdentified: [Int64: Int64] = [:]
    /// A number that changes whenever the deleted or missing state of an object changes, and with each save, rollback
    /// and merge.
    @exclusivity(unchecked) private(set) var deletionStamp = 0
    /// A number that changes with ``deletionStamp``, except for the deletion of a single object, which the arrays of
    /// recent members that contain the object drop.
    @exclusivity(unchecked) private(set) var unnamedDeletionStamp = 0
    /// Whether another process may ever have deleted objects of the map.
    @exclusivity(unchecked) private(set) var mayHaveUnverifiedFaults = false

    /// Creates an empty map.
    ///
    /// - Parameter parent: The map of the parent context, whose temporary keys may occur in identifiers.
    init(_ coordinator: PersistentStoreCoordinator, parent: IdentityMap?) {
        self.coordinator = coordinator
        self.parent = parent
        model = coordinator.model
        let types = coordinator.objectTypes
        let tables = model.entities.map { entity in
            entity.isRoot ? ObjectTable(onlyEntity: entity.family.count == 1 ? entity.index : nil) : nil
        }
        handlers = model.entities.map { entity in
            FaultHandler(
                entity: entity,
                objectType: types[entity.index],
                table: tables[entity.rootIndex]!,
                readsFromParent: parent != nil
            )
        }
    }

    // MARK: Handlers

    /// The handler for an object that is to be inserted. It is not retained: the map retains it.
    ///
    /// - Precondition: The model has an entity for the object's class. A ``ManagedObject`` is of its entity's class.
    func borrowedHandler(forNew object: any GraphObject) -> Unmanaged<FaultHandler> {
        let type = ObjectIdentifier(Swift.type(of: object))
        if let lastHandler, lastHandler.type == type { return lastHandler.handler }
        if object is ManagedObject {
            guard let entity = model.entitiesByName[object.entity.name] else {
                preconditionFailure("the context's model has no entity '\(object.entity.name)'")
            }
            let handler = handlers[entity.index]
            precondition(
                type == ObjectIdentifier(handler.objectType)
                    || ObjectTypes.isKind(Swift.type(of: object), of: handler.objectType),
                "objects of entity '\(entity.name)' are of class '\(handler.objectType)'"
            )
            return Unmanaged.passUnretained(handler)
        }
        guard let index = coordinator.objectTypes.entityIndex(of: type) else {
            preconditionFailure(
                "the context's model has no entity for class '\(Swift.type(of: object))': add the class to its schema"
            )
        }
        let handler = Unmanaged.passUnretained(handlers[index])
        lastHandler = (type, handler)
        return handler
    }

    /// The entity of a class of objects; nil if the model has none.
    func entity(for type: any GraphObject.Type) -> Entity? {
        coordinator.objectTypes.entityIndex(of: ObjectIdentifier(type)).map { model.entities[$0] }
    }

    // MARK: Lookups

    /// The registered object with a key, which may be deleted or missing.
    func object(forKey key: Int64, of entity: Entity) -> (any GraphObject)? {
        guard let found = handlers[entity.index].table.object(forKey: key) else { return nil }
        return handlers[found.entity].graphObject(found.object)
    }

    /// The registered object of a row, which may be deleted or missing.
    func object(for row: Row) -> (any GraphObject)? { object(forKey: row.key, of: model.entities[row.entityIndex]) }

    /// The registered object with the key of a relationship's destination, which may be deleted or missing. Returns nil
    /// for an object whose entity is not a destination of the relationship: in a damaged store a key may belong to any
    /// object of the table.
    func destination(forKey key: Int64, of relationship: Relationship) -> (any GraphObject)? {
        let index = relationship.destination.index
        guard let found = handlers[index].table.object(forKey: key),
            found.entity == index || handlers[found.entity].entity.isKind(of: relationship.destination)
        else { return nil }
        return handlers[found.entity].graphObject(found.object)
    }

    /// Whether an entity is the entity with the other index, or inherits from it.
    @inline(never)
    func isKind(_ entityIndex: Int, of otherIndex: Int) -> Bool {
        handlers[entityIndex].entity.isKind(of: handlers[otherIndex].entity)
    }

    /// All registered objects, without missing objects and objects to which only the map refers.
    var registeredObjects: [any GraphObject] {
        handlers.filter(\.entity.isRoot).flatMap { handler in
            handler.table.sweep()
            return handler.table.all.map { handlers[$0.entity].graphObject($0.object) }
                .filter { !$0.state.pointee.life.isMissing }
        }
    }

    /// All registered objects of an entity and its subentities, including missing objects.
    func objects(of entity: Entity) -> [any GraphObject] {
        handlers[entity.index].table.all.compactMap { found in
            let handler = handlers[found.entity]
            return handler.entity.isKind(of: entity) ? handler.graphObject(found.object) : nil
        }
    }

    /// Whether an object is in the context.
    func contains(_ object: any GraphObject) -> Bool {
        guard let handler = object.state.pointee.handler else { return false }
        return handlers.indices.contains(handler.entity.index) && handlers[handler.entity.index] === handler
    }

    // MARK: Identifiers

    /// The identifier of an object with a key.
    func id(entity: Entity, key: Int64) -> ManagedObjectID {
        ManagedObjectID(entity: entity, storeUUID: key < 0 ? nil : coordinator.storeUUID(for: entity), key: key)
    }

    /// The identifier of an object.
    func id(of object: any GraphObject) -> ManagedObjectID { id(entity: object.entity, key: object.state.pointee.key) }

    /// The map's entity for an identifier, which may come from a context with an equal model; nil if the identifier is
    /// of another store.
    func entity(of id: ManagedObjectID) -> Entity? {
        guard let entity = model.entitiesByName[id.entity.name],
            id.key < 0 || id.storeUUID == coordinator.storeUUID(for: entity)
        else { return nil }
        return entity
    }

    /// The current identifier of an object, for an identifier that may contain an earlier, temporary key.
    func current(_ id: ManagedObjectID) -> ManagedObjectID {
        guard id.key < 0, handlers.indices.contains(id.entity.index) else { return id }
        let key = currentKey(of: id.key)
        return key == id.key ? id : self.id(entity: id.entity, key: key)
    }

    /// The current key of an object, for a key that may be an earlier, temporary key.
    func currentKey(of key: Int64) -> Int64 {
        guard key < 0 else { return key }
        if let current = permanentKeys[key] ?? keysOfIdentified[key] { return current }
        return parent?.currentKey(of: key) ?? key
    }

    /// The permanent key of an object with a key, which may be temporary; 0 if the object will not be in the store.
    func permanentKey(for key: Int64, of entity: Entity) -> Int64 {
        guard let found = handlers[entity.index].table.object(forKey: key) else { return max(key, 0) }
        return withExtendedLifetime(found.object) {
            let state = handlers[found.entity].state(of: Unmanaged.passUnretained(found.object))
            guard !state.pointee.life.isDeletedOrMissing else { return 0 }
            return key > 0 ? key : state.borrowedChanges?._withUnsafeGuaranteedRef { $0.assignedKey } ?? 0
        }
    }

    // MARK: Changes

    /// Registers a new object under its permanent key before its save. ``currentKey(of:)`` maps its temporary key.
    func register(_ object: any GraphObject, underPermanentKey key: Int64) {
        let state = object.state
        guard let handler = state.pointee.handler else { return }
        assert(state.pointee.key < 0 && key > 0, "only a temporary key is replaced by a permanent one")
        handler.table.remove(state.pointee.key)
        handler.table.insert(object, forKey: key, entity: handler.entity.index)
        permanentKeys[state.pointee.key] = key
        noteKey(key, of: state)
        state.pointee.key = key
    }

    /// Records the permanent key of a new object, which still has its temporary key, if the program has read its
    /// temporary identifier: as long as the context exists, it finds the object by both identifiers.
    @inline(__always)
    func noteKey(_ key: Int64, of state: UnsafeMutablePointer<ObjectState>) {
        guard state.pointee.flags.contains(.identified) else { return }
        state.pointee.flags.remove(.identified)
        keysOfIdentified[state.pointee.key] = key
    }

    /// Forgets the temporary keys of objects that got permanent keys before their save, except keys that the program
    /// has read.
    func forgetTemporaryKeys() {
        if !permanentKeys.isEmpty { permanentKeys = [:] }
    }

    /// Makes an object missing that the store no longer has, and notifies the observers of references to it.
    func markMissing(_ object: any GraphObject) {
        object.life.markMissing()
        noteDeletion()
        object.notifyObserversOfExistence()
    }

    /// Records a change of the deleted or missing state of any objects.
    func noteDeletion() {
        deletionStamp &+= 1
        unnamedDeletionStamp &+= 1
    }

    /// Records the deletion of a registered object.
    func noteDeletion(of object: any GraphObject) {
        deletionStamp &+= 1
        object.state.pointee.handler?.table.recentMembers.remove(object, withKey: object.state.pointee.key)
    }

    /// Whether a registered object represents the row of an entity with its key.
    ///
    /// An object never changes its entity. If the store has a row of another entity under its key, the object is
    /// missing, and the row gets another object: reading the row by the slots of the old entity would read other
    /// properties, or memory after the row.
    @inline(__always)
    func keeps(_ found: ObjectTable.Found, _ key: Int64, for entityIndex: Int) -> Bool {
        if found.entity == entityIndex { return true }
        forget(found, key)
        return false
    }

    @inline(never)
    private func forget(_ found: ObjectTable.Found, _ key: Int64) {
        let handler = handlers[found.entity]
        handler.graphObject(found.object).state.pointee.life.markMissing()
        noteDeletion()
        handler.table.remove(key)
    }

    /// Records that another process may have deleted any objects.
    func noteUnknownDeletions() { mayHaveUnverifiedFaults = true }

    // MARK: Leaving the context

    /// Disconnects the objects from their context, which is being deallocated.
    func disconnect() {
        for handler in handlers { handler.detachFromContext() }
    }

    /// Moves new objects out of the context, into a detached graph. They keep the relationships among themselves.
    func detach(_ objects: [any GraphObject]) {
        guard !objects.isEmpty else { return }
        let graph = DetachedGraph()
        let keys = Set(objects.map { $0.state.pointee.key })
        for object in objects {
            object.state.pointee.handler?.table.remove(object.state.pointee.key)
            object.dropRelationships(exceptTo: keys)
            graph.add(object, key: object.state.pointee.key)
        }
    }

    /// Unregisters all objects. Objects to which the program refers keep their identifiers and last values.
    func detachAll() {
        for root in handlers where root.entity.isRoot {
            var detached: [Int: FaultHandler] = [:]
            root.table.sweep()
            for found in root.table.all {
                let handler = detached[found.entity] ?? handlers[found.entity].detached()
                detached[found.entity] = handler
                handler.graphObject(found.object).state.pointee.handler = handler
            }
            _ = root.table.removeAll()
        }
    }

    /// Releases all objects. Objects refer to their handlers, which refer to the tables: this breaks the cycle.
    func removeAll() {
        for handler in handlers where handler.entity.isRoot { _ = handler.table.removeAll() }
    }
}

extension GraphObject {
    /// Forgets the destinations and members that are not among `keys`.
    fileprivate func dropRelationships(exceptTo keys: Set<Int64>) {
        guard let changes = state.pointee.changes else { return }
        for relationship in entity.relationships {
            switch changes[relationship.slot] {
            case .value(.integer(let key)) where !keys.contains(key):
                changes[relationship.slot] = .unset
            case .members(let members):
                changes[relationship.slot] = .members(ToManyMembers(new: members.keys.filter(keys.contains)))
            default: break
            }
        }
    }
}
