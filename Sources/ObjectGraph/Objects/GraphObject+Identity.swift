extension GraphObject {
    /// The identifier; temporary before the first save.
    public var managedObjectID: ManagedObjectID {
        guard let handler = _$state.handler else {
            return ManagedObjectID(entity: entity, storeUUID: nil, key: ensureKey())
        }
        let uuid = _$state.key > 0 ? handler.storeUUID : nil
        return ManagedObjectID(entity: handler.entity, storeUUID: uuid, key: _$state.key)
    }

    /// The key; an object in no graph gets a temporary one, which it keeps when it enters one.
    func ensureKey() -> Int64 {
        if _$state.key >= 0, _$state.handler == nil { _$state.key = TemporaryKeys.next() }
        return _$state.key
    }

    /// The context, or nil for an object that is in none.
    public var managedObjectContext: ManagedObjectContext? { _$state.handler?.context }

    /// Whether the next save inserts the object.
    public var isInserted: Bool { _$state.flags.contains(.inserted) }

    /// Whether the next save updates the object.
    public var isUpdated: Bool { _$state.flags.contains(.updated) }

    /// Whether the next save deletes the object.
    public var hasPendingDeletion: Bool { _$state.flags.contains(.deleted) }

    /// Whether the next save writes something for the object.
    var hasChanges: Bool { !_$state.flags.isDisjoint(with: [.inserted, .updated, .deleted]) }

    /// Whether the object was deleted, be the deletion saved or not, or is found to be missing in the store.
    public var isObjectDeleted: Bool { !_$state.flags.isDisjoint(with: [.deleted, .vanished]) }

    /// Whether the object's values have not been read from the store yet.
    public var isFault: Bool { _$state.chunk == nil && _$state.changes == nil && _$state.handler != nil }
}
