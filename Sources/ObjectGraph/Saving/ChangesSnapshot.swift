/// A copy of the unsaved changes of a context.
///
/// A save that resolves conflicts changes objects before it succeeds; if it fails, the context returns to its earlier
/// state.
struct ChangesSnapshot {
    private let lists: (inserted: ChangeList, updated: ChangeList, deleted: ChangeList)
    private let unpropagatedDeletes: [any GraphObject]
    /// The listed objects with their states. An object that is in several lists occurs several times.
    private let states: [(entry: ChangedObject, state: ObjectState)]

    init(_ changes: ChangeTracker) {
        lists = (changes.inserted, changes.updated, changes.deleted)
        unpropagatedDeletes = changes.unpropagatedDeletes
        var states: [(entry: ChangedObject, state: ObjectState)] = []
        states.reserveCapacity(lists.inserted.entries.count + lists.updated.entries.count + lists.deleted.entries.count)
        for list in [lists.inserted, lists.updated, lists.deleted] {
            for entry in list.entries {
                var state = entry.state.pointee
                state.changes = state.changes?.copy()
                states.append((entry, state))
            }
        }
        self.states = states
    }

    /// Restores the changes of the context's objects. Objects that had no changes when the copy was made lose their
    /// changes.
    func restore(_ changes: ChangeTracker) {
        var known: Set<ObjectIdentifier> = []
        let states = states.filter { known.insert(ObjectIdentifier($0.entry.reference)).inserted }
        for entry in changes.changedEntries where !known.contains(ObjectIdentifier(entry.reference)) {
            entry.state.pointee.changes = nil
            entry.state.pointee.life.revert()
            entry.state.pointee.flags.subtract(.listed)
            entry.state.pointee.flags.subtract([.deletePropagated, .deletedByCascade])
        }
        for (entry, state) in states {
            entry.state.pointee = state
            entry.object.notifyObserversOfAllProperties()
        }
        (changes.inserted, changes.updated, changes.deleted) = lists
        changes.unpropagatedDeletes = unpropagatedDeletes
    }
}
