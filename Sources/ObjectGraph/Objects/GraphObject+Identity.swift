extension GraphObject {
    /// The identifier; temporary before the first save. Its context finds the object by either identifier.
    public var managedObjectID: ManagedObjectID {
        defer { if state.pointee.key < 0 { state.pointee.flags.insert(.identified) } }
        guard let handler = state.pointee.handler else {
            return ManagedObjectID(entity: entity, storeUUID: nil, key: ensureKey())
        }
        let uuid = state.pointee.key > 0 ? handler.storeUUID : nil
        return ManagedObjectID(entity: handler.entity, storeUUID: uuid, key: state.pointee.key)
    }

    /// Returns the key. An object in no graph gets a temporary key, which it keeps when it enters a graph.
    func ensureKey() -> Int64 {
        let handler = state.pointee.handler
        if state.pointee.key >= 0, handler?.context == nil, handler?.detachedGraph == nil {
            state.pointee.key = TemporaryKeys.next()
        }
        return state.pointee.key
    }

    /// The permanent key that a store assigned to a new object for its next save; 0 if none is assigned.
    package var assignedKey: Int64 { state.pointee.changes?.assignedKey ?? 0 }

    /// The permanent key under which a save writes the object; 0 if none is assigned yet.
    var keyInStore: Int64 { state.pointee.key > 0 ? state.pointee.key : assignedKey }

    /// The context; nil for an object in no context.
    public var managedObjectContext: ManagedObjectContext? { state.pointee.handler?.context }

    /// Whether the next save writes the object.
    var hasChanges: Bool { state.pointee.life.hasChanges }

    /// Whether the object has no row yet. Values of its fetched row, see ``FetchRequest/propertiesToFetch``, are
    /// nevertheless read without a request to the store.
    public var isFault: Bool {
        guard state.pointee.chunk == nil, state.pointee.handler != nil else { return false }
        return state.pointee.changes.map { $0.cachedRow != nil } ?? true
    }

    /// The object as a `ManagedObject` if its class may override the lifecycle methods.
    var withLifecycle: ManagedObject? {
        state.pointee.handler?.hasLifecycle ?? false ? self as? ManagedObject : nil
    }
}
