/// What a context knows of an object, apart from its values.
@usableFromInline
struct ObjectFlags: OptionSet {
    @usableFromInline let rawValue: UInt32

    @inlinable
    init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// To be inserted by the next save.
    @inlinable static var inserted: ObjectFlags { .init(rawValue: 1) }
    /// To be updated by the next save.
    @inlinable static var updated: ObjectFlags { .init(rawValue: 2) }
    /// To be deleted by the next save.
    @inlinable static var deleted: ObjectFlags { .init(rawValue: 4) }
    /// Not in the store any more: its deletion was saved, or its row was found to be missing.
    @inlinable static var vanished: ObjectFlags { .init(rawValue: 8) }
    /// What any object has of which a context has taken note already, or that is gone: a change is nothing new then.
    static var listedOrGone: ObjectFlags { [.inserted, .updated, .deleted, .vanished] }
    /// Some slots hold ``SlotValue/pending(_:)``.
    @inlinable static var hasPendingRelationships: ObjectFlags { .init(rawValue: 16) }
    /// Stands in the context's list of inserted objects, be it still inserted or not.
    @inlinable static var listedAsInserted: ObjectFlags { .init(rawValue: 32) }
    /// Stands in the context's list of updated objects, be it still updated or not.
    @inlinable static var listedAsUpdated: ObjectFlags { .init(rawValue: 64) }
    /// Stands in the context's list of deleted objects, be it still deleted or not.
    @inlinable static var listedAsDeleted: ObjectFlags { .init(rawValue: 128) }
    /// Changed here and by somebody else: its row is not the store's any more.
    @inlinable static var outdated: ObjectFlags { .init(rawValue: 512) }
    /// New, and changes of its attributes are recorded: it came before the group of changes that is recorded now.
    @inlinable static var recordsChanges: ObjectFlags { .init(rawValue: 1024) }
    /// Not in the store because this context saved its deletion, or has deleted it before its insertion was saved, so
    /// that an undo can bring it back under its own permanent key.
    @inlinable static var deletionSaved: ObjectFlags { .init(rawValue: 2048) }
    /// Somebody observes the object's properties.
    @inlinable static var observed: ObjectFlags { .init(rawValue: 4096) }
    /// New and outside any graph, of a class that others inherit from: ``GraphObject/_$completeState()`` has not been
    /// called yet.
    @inlinable static var incomplete: ObjectFlags { .init(rawValue: 8192) }
    /// New, and some attributes without a value had one in the store that was not read: they must not be saved as empty.
    @inlinable static var hasUnreadValues: ObjectFlags { .init(rawValue: 32768) }
    /// Deleted along a delete rule, and not by the program.
    @inlinable static var deletedByCascade: ObjectFlags { .init(rawValue: 16384) }
    /// The deletion has been carried on along the delete rules.
    @inlinable static var deletePropagated: ObjectFlags { .init(rawValue: 256) }
}
