/// Inserts objects into a context: new objects, objects of detached graphs, and deleted objects again.
final class ObjectInsertion {
    private let changeTracker: ChangeTracker
    private let deletePropagation: DeletePropagation
    private let identityMap: IdentityMap

    init(_ deletePropagation: DeletePropagation) {
        self.deletePropagation = deletePropagation
        changeTracker = deletePropagation.changeTracker
        identityMap = changeTracker.identityMap
    }

    /// Inserts an object that is in no context, together with all objects of its detached graph.
    func insert(_ object: any GraphObject) {
        if let graph = object.state.pointee.handler?.detachedGraph { return insert(graph) }
        let wasSaved = object.state.pointee.key > 0
        register(object, key: object.ensureKey(), wasSaved: wasSaved)
        object.establishPendingRelationships()
    }

    /// Inserts a deleted object of the context again.
    func reinsert(_ object: any GraphObject) {
        if object.life.isDeleted { deletePropagation.restore([object]) }
        guard object.life.isMissing else { return }
        changeTracker.onReturn?(object)
        changeTracker.unlistUpdate(of: object)
        if object.hasUnsavedPermanentKey {
            insertUnderPermanentKey(object)
        } else {
            insertAsNew(object)
        }
        object.notifyObserversOfExistence()
    }

    private func insert(_ graph: DetachedGraph) {
        let members = graph.dissolve()
        for member in members { register(member.object, key: member.key) }
        for member in members { member.object.establishPendingRelationships() }
    }

    /// Registers an object that is in no graph as a new object.
    ///
    /// - Parameter wasSaved: Whether the object was in a store before, under another key.
    private func register(_ object: any GraphObject, key: Int64, wasSaved: Bool = false) {
        // Not retained, since the map retains the handler, and the handler its table.
        let hasLifecycle = identityMap.borrowedHandler(forNew: object)._withUnsafeGuaranteedRef { handler in
            let table = Unmanaged.passUnretained(handler.table)
            table._withUnsafeGuaranteedRef { $0.reserve(1) }
            object.completeState()
            object.turnRowIntoChanges(wasSaved: wasSaved)
            let state = object.state
            state.pointee.handler = handler
            state.pointee.key = key
            state.pointee.life.leaveGraph()
            state.pointee.flags.subtract([.deletePropagated, .recordsChanges])
            changeTracker.insert(object)
            table._withUnsafeGuaranteedRef { $0.insert(object, forKey: key, entity: handler.entity.index) }
            object.continueObserving()
            return handler.hasLifecycle
        }
        if hasLifecycle { object.withLifecycle?.awakeFromInsert() }
    }

    /// Reverts the deletion of a new object with a permanent key, which it keeps.
    private func insertUnderPermanentKey(_ object: any GraphObject) {
        object.state.pointee.flags.remove(.deletePropagated)
        identityMap.noteDeletion()
        changeTracker.insert(object)
        object.reestablishInverses()
    }

    /// Inserts a missing object under a new temporary key.
    private func insertAsNew(_ object: any GraphObject) {
        let key = object.state.pointee.key
        // The object becomes another object, so that its earlier changes cannot be undone.
        if key > 0 { changeTracker.forgetUndo() }
        object.state.pointee.handler?.table.remove(key)
        register(object, key: key < 0 ? key : TemporaryKeys.next())
        object.reestablishInverses()
    }
}
