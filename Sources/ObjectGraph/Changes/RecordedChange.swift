/// One change of one object, with the values that revert it.
///
/// Changes are recorded where they are made, one side of a relationship at a time. Reverting them in the opposite order
/// therefore needs neither inverses nor delete rules: their effects were recorded as separate changes.
enum RecordedChange {
    /// An attribute had another value.
    case value(of: any GraphObject, slot: Int, SlotValue)
    /// A to-one relationship led to another object, or to no object.
    case destination(of: any GraphObject, slot: Int, RecordedReference)
    /// An object became a member of a to-many relationship, or a removed member was restored.
    case arrival(RecordedReference, at: any GraphObject, Relationship, isRestored: Bool)
    /// An object was removed from a to-many relationship.
    case departure(RecordedReference, from: any GraphObject, Relationship, ToManyMembers.Removal)
    /// The members of an ordered relationship had another order, which may have differed from the store's order.
    case order(of: any GraphObject, Relationship, [RecordedReference], storedAt: UInt32?)
    /// An object was inserted, or its deletion reverted.
    case insertion(any GraphObject)
    /// An object was deleted.
    case deletion(any GraphObject)

    /// The object that changed.
    var object: any GraphObject {
        switch self {
        case .value(let object, _, _), .destination(let object, _, _), .arrival(_, let object, _, _),
            .departure(_, let object, _, _), .order(let object, _, _, _), .insertion(let object),
            .deletion(let object):
            object
        }
    }
}

/// A reference of recorded changes to an object, whose key may become permanent in the meantime.
enum RecordedReference {
    /// An object that had a temporary key.
    case object(any GraphObject)
    /// A permanent key, or 0 for no object.
    case key(Int64)

    /// The key that the object has now.
    var currentKey: Int64 {
        switch self {
        case .object(let object): object.state.pointee.key
        case .key(let key): key
        }
    }
}

/// The changes of a context from one ``ManagedObjectContext/processPendingChanges()`` to the next, which are undone
/// together.
struct RecordedChanges {
    /// The changes, oldest first.
    let changes: [RecordedChange]
    /// The number of saves of the context before the changes.
    let saveCount: Int
    /// The objects with temporary keys to which deleted objects refer. When they get permanent keys, the deleted
    /// objects keep the temporary keys.
    let relatedByTemporaryKey: [Int64: any GraphObject]

    /// The current key of the object that had a key when the changes were made.
    func currentKey(of key: Int64) -> Int64 { relatedByTemporaryKey[key]?.state.pointee.key ?? key }
}
