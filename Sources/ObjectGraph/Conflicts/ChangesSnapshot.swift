/// The unsaved changes of a context at one moment, to go back to.
///
/// A save that has to settle conflicts changes objects before it knows whether it will succeed; when it does not, the
/// context is to be as it was.
struct ChangesSnapshot {
    private let lists: (inserted: ChangeList, updated: ChangeList, deleted: ChangeList)
    private let unpropagatedDeletes: [any GraphObject]
    private let states: [ObjectIdentifier: (object: any GraphObject, state: ObjectState)]

    init(_ context: ManagedObjectContext) {
        lists = (context.inserted, context.updated, context.deleted)
        unpropagatedDeletes = context.unpropagatedDeletes
        var states: [ObjectIdentifier: (object: any GraphObject, state: ObjectState)] = [:]
        for entry in context.changedEntries {
            var state = entry.state.pointee
            state.changes = state.changes?.copy()
            states[ObjectIdentifier(entry.object)] = (entry.object, state)
        }
        self.states = states
    }

    /// Makes the context's objects what they were. Those that had no changes then have none now.
    func restore(_ context: ManagedObjectContext) {
        for entry in context.changedEntries where states[ObjectIdentifier(entry.object)] == nil {
            entry.state.pointee.changes = nil
            entry.state.pointee.life.revert()
            entry.state.pointee.flags.subtract(.listed)
            entry.state.pointee.flags.subtract([.deletePropagated, .deletedByCascade])
        }
        for (object, state) in states.values {
            object.state.pointee = state
            object.tellObserversOfAll()
        }
        (context.inserted, context.updated, context.deleted) = lists
        context.unpropagatedDeletes = unpropagatedDeletes
    }
}

extension ManagedObjectContext {
    /// The entries of all lists of changed objects, among them some that are not changed any more.
    var changedEntries: [ChangedObject] { inserted.entries + updated.entries + deleted.entries }
}
