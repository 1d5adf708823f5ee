public import Foundation
import Synchronization

/// A scratch pad of objects: it fetches them, keeps one object for each row, collects changes and saves them.
///
/// A context and its objects belong to one thread, actor or queue at a time; they are not `Sendable`. Pass identifiers
/// between contexts. What one context saves, the others of the coordinator take in at their next fetch or save.
public final class ManagedObjectContext {
    /// Where the context's stores are.
    public let coordinator: PersistentStoreCoordinator
    /// The context that this one reads from and saves to; nil where those are the stores themselves.
    public let parent: ManagedObjectContext?
    /// What the layer above associates with the context.
    public weak var owner: AnyObject?
    /// What a save does about objects that somebody else has changed, and about values that are not unique.
    public var mergePolicy = MergePolicy.error
    /// For how many seconds after it was fetched a row may fill a fault that has it at hand without asking the store (see
    /// ``FetchRequest/returnsObjectsAsFaults``); a negative number for any time, which it is at first, as in Core Data.
    ///
    /// It is no age that filled objects have: those show what was last read, until a fetch reads a later version or
    /// ``refresh(_:mergeChanges:)`` makes them faults, which always reads the store again. What other contexts of the
    /// coordinator save comes by itself.
    public var stalenessInterval: TimeInterval = -1
    /// Called when the context gets its first unsaved change, and again for the first one after each save or rollback.
    public var didGetChanges: (() -> Void)?
    /// Called by any thread when another context has saved something, for this one to take in with
    /// ``processPendingChanges()``, and again for what comes after that.
    public var onRemoteChange: (@Sendable () -> Void)? {
        get { inbox.onRemoteChange }
        set { inbox.onRemoteChange = newValue }
    }
    /// Whether ``didGetChanges`` is called for the next further object that is changed, too, though there are changes.
    package var announcesNextChange = false
    /// What records the changes, so that they can be undone and redone; nil, which it is at first, for nothing. Setting it
    /// to another one forgets what could be undone here.
    ///
    /// The changes from one ``processPendingChanges()`` to the next, which fetches and saves call, are one operation. To
    /// have several of them undone at once, put them into a group. Everything the changes entailed is undone with them:
    /// inverse relationships, and what the delete rules did.
    ///
    /// - An object whose insertion is undone is like a deleted one: it keeps its values. Redoing brings the same object back.
    /// - A save leaves the changes undoable. Undoing then changes, deletes or inserts the objects anew, for another save to
    ///   write; an object whose deletion was saved comes back under its own identifier. One-way relationships lead to it
    ///   again as far as they are in memory and did so in the store.
    /// - Undoing sets what has been changed to what it was, whatever other contexts saved meanwhile; objects that they deleted
    ///   stay so.
    /// - ``rollback()`` and ``reset()`` forget the context's changes, and so does inserting an object anew whose deletion was
    ///   saved. ``refresh(_:mergeChanges:)`` is no change that can be undone.
    ///
    /// Recorded objects stay in memory for as long as they can be undone or redone: set ``UndoManager/levelsOfUndo``.
    public var undoManager: UndoManager? {
        didSet { undoManagerDidChange(from: oldValue) }
    }

    /// The handlers of the entities, at their ``Entity/index``.
    let handlers: [FaultHandler]
    private let handlersByType: [ObjectIdentifier: FaultHandler]
    @exclusivity(unchecked) private var lastHandler: (type: ObjectIdentifier, handler: FaultHandler)?
    let inbox = ContextInbox()
    /// Where it is told that a property could not be read. A store that leaves values in place hands it to its
    /// ``RowBatchBuilder``.
    public let readFailures: ReadFailures
    /// The children's inboxes.
    var childInboxes = InboxList()

    // No access to the lists comes back to the context: checks for overlaps would only cost time.
    @exclusivity(unchecked) var inserted = ChangeList(.inserted)
    @exclusivity(unchecked) var updated = ChangeList(.updated)
    @exclusivity(unchecked) var deleted = ChangeList(.deleted)
    /// Deleted objects whose delete rules have not been applied yet.
    @exclusivity(unchecked) var unpropagatedDeletes: [any GraphObject] = []
    @exclusivity(unchecked) var isPropagatingDeletes = false
    /// Another number after each change of which objects count as deleted, and after each save, rollback and merge.
    var deletionStamp = 0
    var recentMembers = RecentMembers()
    /// What takes changes down for the undo manager; nil without one, and while changes are not to be undone.
    @exclusivity(unchecked) var recorder: ChangeRecorder?
    /// The thread that tells objects of a save and carries it out; 0 while there is no save.
    let savingThread = Atomic<UInt>(0)
    /// How often changes have been saved.
    var saveCount = 0
    /// The keys of new objects that were given permanent ones, by their temporary keys.
    var earlierKeys: [Int64: Int64] = [:]
    /// Whether objects may be observed, so that nothing should wait that they are told of.
    var hasObservedObjects = false
    /// The state of the stores that is read; nil for the last one.
    var pinnedGeneration: QueryGenerationToken?
    /// How many objects had been inserted when all of them were last given permanent keys.
    var insertionsWithPermanentIDs = 0

    /// Makes a context without objects, which reads from the coordinator's stores and saves to them.
    public convenience init(coordinator: PersistentStoreCoordinator) {
        self.init(coordinator: coordinator, parent: nil)
    }

    /// Makes a context without objects that reads from another context and saves to it, one level up: a scratch pad for
    /// changes that may yet be dropped.
    ///
    /// It sees what the parent's objects are, unsaved changes included, at the time when it reads them. Later changes that
    /// the parent makes it sees when it fetches or refreshes an object anew; what the parent or another child saves it
    /// takes in by itself. Its own save makes its changes unsaved changes of the parent, as one operation to undo: where both
    /// have changed a value, the child's goes before the parent's. Only the save of the topmost context writes to a store,
    /// and reports conflicts with others and values that are not unique.
    ///
    /// New objects of either get their permanent identifiers as soon as the other one hears of them.
    ///
    /// The child is used where its parent is: by the same thread, actor or queue.
    public convenience init(parent: ManagedObjectContext) {
        self.init(coordinator: parent.coordinator, parent: parent)
    }

    private init(coordinator: PersistentStoreCoordinator, parent: ManagedObjectContext?) {
        self.coordinator = coordinator
        self.parent = parent
        readFailures = ReadFailures(coordinator)
        let entities = coordinator.model.entities
        var tables: [Int: IdentityTable] = [:]
        for entity in entities where entity.isRoot {
            tables[entity.index] = IdentityTable(onlyEntity: entity.family.count == 1 ? entity.index : nil)
        }
        let types = coordinator.objectTypes
        handlers = entities.map { entity in
            FaultHandler(
                entity: entity,
                objectType: types[entity.index],
                table: tables[entity.rootIndex]!,
                context: nil
            )
        }
        handlersByType = Dictionary(
            handlers.map { (ObjectIdentifier($0.objectType), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        for handler in handlers { handler.context = self }
        if let parent {
            parent.childInboxes.add(inbox)
        } else {
            coordinator.add(inbox)
        }
    }

    deinit {
        undoManager?.removeAllActions(withTarget: self)
        let inserted = inserted.objects.filter { $0.state.pointee.key < 0 }
        readFailures.contextGoesAway()
        for handler in handlers { handler.detachFromContext() }
        // Whoever refers to new objects keeps them as they are, with the relationships among themselves.
        removeFromContext(inserted)
        // Objects hold their handlers, which hold the table: this ends the cycle.
        for handler in handlers where handler.entity.isRoot { _ = handler.table.removeAll() }
    }

    /// The model.
    public var model: ManagedObjectModel { coordinator.model }

    // MARK: State

    /// Whether a save has anything to write.
    public var hasChanges: Bool {
        propagateDeletes()
        return changeCount > 0
    }

    /// The objects that the next save inserts, in the order in which they were inserted into the context.
    public var insertedObjects: [any GraphObject] {
        propagateDeletes()
        return inserted.objects
    }

    /// The objects that the next save updates, in the order of their first change.
    public var updatedObjects: [any GraphObject] {
        propagateDeletes()
        return updated.objects
    }

    /// The objects that the next save deletes, in the order of their deletion.
    public var deletedObjects: [any GraphObject] {
        propagateDeletes()
        return deleted.objects
    }

    /// Tells of a change that is about to be listed, where it is one to be told of.
    func announceChange() {
        guard changeCount == 0 || announcesNextChange else { return }
        announcesNextChange = false
        didGetChanges?()
    }

    /// How many objects a save has something to write for.
    var changeCount: Int { inserted.count + updated.count + deleted.count }

    /// All objects that the context knows and somebody refers to.
    public var registeredObjects: [any GraphObject] {
        handlers.filter(\.entity.isRoot).flatMap { handler in
            handler.table.sweep()
            return handler.table.all.map { handlers[$0.entity].graphObject($0.object) }
                .filter { !$0.life.isMissing }
        }
    }

    // MARK: Handlers

    /// The handler for an object that is to be inserted.
    ///
    /// - Precondition: The model has an entity for the object's class.
    func handler(forNew object: any GraphObject) -> FaultHandler {
        let type = ObjectIdentifier(Swift.type(of: object))
        if let lastHandler, lastHandler.type == type { return lastHandler.handler }
        if object is ManagedObject {
            guard let entity = model.entitiesByName[object.entity.name] else {
                preconditionFailure("the context's model has no entity '\(object.entity.name)'")
            }
            return handlers[entity.index]
        }
        guard let handler = handlersByType[type] else {
            preconditionFailure(
                "the context's model has no entity for class '\(Swift.type(of: object))': add the class to its schema"
            )
        }
        lastHandler = (type, handler)
        return handler
    }

    /// The entity of a class of objects, or nil where the model has none.
    public func entity(for type: any GraphObject.Type) -> Entity? {
        handlersByType[ObjectIdentifier(type)]?.entity
    }

    // MARK: Registered objects

    /// The object with an identifier, where the context knows it already; else nil, without asking the store.
    public func registeredObject(for id: ManagedObjectID) -> (any GraphObject)? {
        let id = current(id)
        guard let entity = entity(of: id), let object = knownObject(forKey: id.key, of: entity) else { return nil }
        return object.life.isMissing ? nil : object
    }

    /// The object with a key, present or missing in the store.
    func knownObject(forKey key: Int64, of entity: Entity) -> (any GraphObject)? {
        guard let found = handlers[entity.index].table.object(forKey: key) else { return nil }
        return handlers[found.entity].graphObject(found.object)
    }

    /// The object with a key that a relationship leads to, present or missing in the store. An object of an entity that the
    /// relationship does not lead to is not returned: in a damaged store a key may be that of any object of the table.
    func knownDestination(forKey key: Int64, of relationship: Relationship) -> (any GraphObject)? {
        let index = relationship.destination.index
        guard let found = handlers[index].table.object(forKey: key),
            found.entity == index || handlers[found.entity].entity.isKind(of: relationship.destination)
        else { return nil }
        return handlers[found.entity].graphObject(found.object)
    }

    /// The object with an identifier: the registered one, or a fault that is filled when it is read. Whether the store
    /// has such an object shows only then; where entities inherit, it is asked at once. For a temporary identifier that means nothing any more, or one of another
    /// store, it is an object that counts as deleted.
    ///
    /// - Precondition: The model has the identifier's entity.
    public func object(with id: ManagedObjectID) -> any GraphObject {
        guard let entity = model.entitiesByName[id.entity.name] else {
            preconditionFailure("the context's model has no entity '\(id.entity.name)'")
        }
        let id = current(id)
        let handler = handlers[entity.index]
        guard self.entity(of: id) != nil, id.key > 0 || handler.table.contains(id.key) else {
            var state = ObjectState(handler: handler, key: id.key)
            state.life.markMissing()
            return handler.makeObject(state)
        }
        handler.table.reserve(1)
        if let object = knownObject(forKey: id.key, of: entity) { return object }
        if !entity.isRoot || !entity.subentities.isEmpty {
            // Only the row tells the entity, and with it the class. A fault of another one must never be registered.
            let found = reading(entity, key: id.key) { try existingObject(with: id) }
            if let object = found ?? nil { return object }
            var state = ObjectState(handler: handler, key: id.key)
            state.life.markMissing()
            return handler.makeObject(state)
        }
        let object = handler.makeObject(ObjectState(handler: handler, key: id.key))
        handler.table.insert(object, forKey: id.key, entity: entity.index)
        return object
    }

    /// The object with an identifier, filled; nil where the store has none.
    ///
    /// - Throws: ``ObjectGraphError/unreadable(_:)`` where a registered object cannot be filled; what the store throws.
    public func existingObject(with id: ManagedObjectID) throws -> (any GraphObject)? {
        let id = current(id)
        if let object = registeredObject(for: id) {
            if object.state.pointee.chunk == nil, object.life.canBeFilled {
                object.fireFault()
                guard object.state.pointee.chunk != nil || object.life.isMissing else {
                    throw ObjectGraphError.unreadable(unreadableValues)
                }
            }
            return object.life.isMissing ? nil : object
        }
        guard id.key > 0, let entity = entity(of: id) else { return nil }
        let rows = try store(for: entity).newValuesForObjects(with: [self.id(entity: entity, key: id.key)], with: self)
        return materialize(rows).first
    }

    /// The own model's entity of an identifier, which may come from a context with an equal model; nil where it is of
    /// another store.
    private func entity(of id: ManagedObjectID) -> Entity? {
        guard let entity = model.entitiesByName[id.entity.name],
            id.key < 0 || id.storeUUID == coordinator.storeUUID(for: entity)
        else { return nil }
        return entity
    }

    /// The identifier by which an object is known of which a temporary one was given out.
    private func current(_ id: ManagedObjectID) -> ManagedObjectID {
        guard id.key < 0, handlers.indices.contains(id.entity.index) else { return id }
        // A new object of the parent's is shown under its permanent identifier.
        if let parent, !handlers[id.entity.index].table.contains(id.key) { try? parent.obtainPermanentIDsForAll() }
        let key = currentKey(of: id.key)
        return key == id.key ? id : self.id(entity: id.entity, key: key)
    }

    /// Where an entity's objects are read from and saved to.
    func store(for entity: Entity) throws -> BackingStore {
        if let parent { return .parent(parent) }
        return .store(try coordinator.store(for: entity).store)
    }

    /// Tells others of changes of this context: its children, and those that read from where it does. The context with
    /// inbox `origin` made the changes, where that is not this one.
    func announce(_ announcement: Announcement, from origin: ContextInbox? = nil) {
        childInboxes.inboxes.post(announcement, except: origin)
        if let parent {
            parent.childInboxes.inboxes.post(announcement, except: inbox)
        } else {
            coordinator.announce(announcement, from: inbox)
        }
    }

    /// The identifier of an object with a key.
    func id(entity: Entity, key: Int64) -> ManagedObjectID {
        ManagedObjectID(entity: entity, storeUUID: key < 0 ? nil : coordinator.storeUUID(for: entity), key: key)
    }
}
