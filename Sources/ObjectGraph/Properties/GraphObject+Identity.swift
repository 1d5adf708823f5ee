extension GraphObject {
    /// The identifier; temporary before the first save.
    public var managedObjectID: ManagedObjectID {
        guard let handler = state.pointee.handler else {
            return ManagedObjectID(entity: entity, storeUUID: nil, key: ensureKey())
        }
        let uuid = state.pointee.key > 0 ? handler.storeUUID : nil
        return ManagedObjectID(entity: handler.entity, storeUUID: uuid, key: state.pointee.key)
    }

    /// The key; an object in no graph gets a temporary one, which it keeps when it enters one.
    func ensureKey() -> Int64 {
        let handler = state.pointee.handler
        if state.pointee.key >= 0, handler?.context == nil, handler?.island == nil {
            state.pointee.key = TemporaryKeys.next()
        }
        return state.pointee.key
    }

    /// The permanent key that a store gave to a new object for the save that is going on; 0 before.
    package var assignedKey: Int64 { state.pointee.changes?.assignedKey ?? 0 }

    /// The context, or nil for an object that is in none.
    public var managedObjectContext: ManagedObjectContext? { state.pointee.handler?.context }

    /// Whether the next save inserts the object.
    public var isInserted: Bool {
        state.pointee.handler?.context?.propagateDeletes()
        return state.pointee.life.isInserted
    }

    /// Whether the next save updates the object.
    public var isUpdated: Bool {
        state.pointee.handler?.context?.propagateDeletes()
        return state.pointee.life.isUpdated
    }

    /// Whether the next save deletes the object.
    public var hasPendingDeletion: Bool {
        state.pointee.handler?.context?.propagateDeletes()
        return state.pointee.life.isDeleted
    }

    /// Whether the next save writes something for the object.
    var hasChanges: Bool { life.hasChanges }

    /// Whether the object was deleted, be the deletion saved or not, or is found to be missing in the store.
    public var isObjectDeleted: Bool {
        state.pointee.handler?.context?.propagateDeletes()
        return state.pointee.life.isGone
    }

    /// Whether the store has no row for the object any more: its deletion was saved, its row was found to be missing, or
    /// it was new and deleted before it was saved.
    package var isMissing: Bool {
        state.pointee.handler?.context?.propagateDeletes()
        return state.pointee.life.isMissing
    }

    /// Whether the object is missing because its own context saved its deletion.
    package var hasSavedDeletion: Bool { isMissing && life == .erased }

    /// Whether the object has not taken in its values yet. Those that the context has at hand, see
    /// ``FetchRequest/propertiesToFetch``, can be read nevertheless without asking the store.
    public var isFault: Bool {
        guard state.pointee.chunk == nil, state.pointee.handler != nil else { return false }
        return state.pointee.changes.map { $0.cachedRow != nil } ?? true
    }
}
