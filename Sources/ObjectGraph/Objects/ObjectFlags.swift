/// Properties of an object that do not depend on its ``ObjectLife``.
@usableFromInline
struct ObjectFlags: OptionSet {
    @usableFromInline let rawValue: UInt16

    @inlinable
    init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    // MARK: Initialization

    /// New and outside any graph, of a class with subclasses: ``GraphObject/_$completeState()`` has not been called
    /// yet.
    @inlinable static var incomplete: ObjectFlags { .init(rawValue: 1) }
    /// Some slots have the value ``SlotValue/pending(_:)``.
    @inlinable static var hasPendingRelationships: ObjectFlags { .init(rawValue: 2) }
    /// New, and some attributes had a stored value that was not read: the object cannot be saved before they are set.
    @inlinable static var hasUnreadValues: ObjectFlags { .init(rawValue: 4) }

    // MARK: Tracking

    /// An entry of the context's list of inserted objects, also after the insertion is dropped.
    @inlinable static var listedAsInserted: ObjectFlags { .init(rawValue: 8) }
    /// An entry of the context's list of updated objects, also after the change is dropped.
    @inlinable static var listedAsUpdated: ObjectFlags { .init(rawValue: 16) }
    /// An entry of the context's list of deleted objects, also after the deletion is dropped.
    @inlinable static var listedAsDeleted: ObjectFlags { .init(rawValue: 32) }
    /// An entry of any list.
    static var listed: ObjectFlags { [.listedAsInserted, .listedAsUpdated, .listedAsDeleted] }
    /// Changed or deleted in this context, and changed in the store since its row was read, or perhaps changed there.
    @inlinable static var outdated: ObjectFlags { .init(rawValue: 64) }

    /// Changed, and the file that has replaced the store's file has a row with other values, which may belong to
    /// another object, or no row. The object cannot be saved before its changes are dropped.
    static var replaced: ObjectFlags { .init(rawValue: 8192) }

    /// New, and the program has read its temporary identifier, which finds it also after the save.
    static var identified: ObjectFlags { .init(rawValue: 16384) }

    // MARK: Deleting

    /// The delete rules of the deleted object have been applied.
    @inlinable static var deletePropagated: ObjectFlags { .init(rawValue: 128) }
    /// Deleted by a delete rule, not by the program.
    @inlinable static var deletedByCascade: ObjectFlags { .init(rawValue: 256) }
    /// A fault without a row, whose row another process may have deleted. The flag has no meaning for an object with a
    /// row.
    static var unverified: ObjectFlags { .init(rawValue: 4096) }

    // MARK: Recording and observing

    /// New, and changes of its attributes are recorded, because its insertion belongs to an earlier group of changes.
    @inlinable static var recordsChanges: ObjectFlags { .init(rawValue: 512) }
    /// The properties of the object have observers.
    @inlinable static var observed: ObjectFlags { .init(rawValue: 1024) }
    /// Changed, and the followers of the context know the changes: further changes are recorded for them.
    @inlinable static var followed: ObjectFlags { .init(rawValue: 2048) }
}
