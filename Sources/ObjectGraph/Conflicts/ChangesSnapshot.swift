/// A copy of the unsaved changes of a context.
///
/// A save that resolves conflicts changes objects before it succeeds; if it fails, the context returns to its earlier
/// state.
struct ChangesSnapshot {
    private let lists: (inserted: ChangeList, updated: ChangeList, deleted: ChangeList)
    private let unpropagatedDeletes: [any GraphObject]
    private let states: [ObjectIdentifier: (object: any GraphObject, state: ObjectState)]

    init(_ changes: ChangeTracker) {
        lists = (changes.inserted, changes.updated, changes.deleted)
        unpropagatedDeletes = changes.unpropagatedDeletes
        var states: [ObjectIdentifier: (object: any GraphObject, state: ObjectState)] = [:]
        for entry in changes.changedEntries {
            var state = entry.state.pointee
            state.changes = state.changes?.copy()
            states[ObjectIdentifier(entry.object)] = (entry.object, state)
        }
        self.states = states
    }

    /// Restores the changes of the context's objects. Objects that had no changes when the copy was made lose their
    /// changes.
    func restore(_ changes: ChangeTracker) {
        for entry in changes.changedEntries where states[ObjectIdentifier(entry.object)] == nil {
            entry.state.pointee.changes = nil
            entry.state.pointee.life.revert()
            entry.state.pointee.flags.subtract(.listed)
            entry.state.pointee.flags.subtract([.deletePropagated, .deletedByCascade])
        }
        for (object, state) in states.values {
            object.state.pointee = state
            object.notifyObserversOfAllProperties()
        }
        (changes.inserted, changes.updated, changes.deleted) = lists
        changes.unpropagatedDeletes = unpropagatedDeletes
    }
}
