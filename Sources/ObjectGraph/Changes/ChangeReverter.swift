/// Drops the unsaved changes of all objects of a context, or of one object.
final class ChangeReverter {
    private let undo: UndoRegistration
    private let changeTracker: ChangeTracker
    private let loader: ObjectLoader
    private var identityMap: IdentityMap { loader.identityMap }

    init(_ undo: UndoRegistration) {
        self.undo = undo
        changeTracker = undo.changeTracker
        loader = undo.loader
    }

    /// Drops all changes. New objects leave the context; updated and deleted objects have the values of their rows
    /// again.
    func rollback() {
        changeTracker.forgetUndo()
        loader.forgetReadFailures()
        let new = changeTracker.inserted.objects.filter { $0.state.pointee.key < 0 }
        let reinserted = changeTracker.inserted.objects.filter { $0.state.pointee.key > 0 }
        let deleted = changeTracker.deleted.objects
        let changed = changeTracker.updated.objects + deleted
        changeTracker.unpropagatedDeletes = []
        changeTracker.removeAll()
        loader.unloadMembers(concealedBy: changed)
        for object in changed { object.dropChanges() }
        // The deletion that the insertion had reverted is still saved.
        for object in reinserted where object.life == .unchanged { object.life.markMissing() }
        identityMap.detach(new)
        loader.reloadOutdated(among: changed)
        loader.reloadReturned(among: reinserted)
        for object in deleted + reinserted { object.notifyObserversOfExistence() }
        undo.commitMerger.announceRevert()
    }

    /// Turns a saved object of the context into a fault.
    ///
    /// - Parameter mergeChanges: Whether unsaved changes stay. The row is then reloaded at once.
    func refresh(_ object: any GraphObject, mergeChanges: Bool) {
        guard object.state.pointee.key > 0, object.life.canBeFilled else {
            return
        }
        let rootIndex = object.entity.rootIndex
        loader.readFailures.removeAll {
            $0.key == object.state.pointee.key && identityMap.handlers[$0.entityIndex].rootIndex == rootIndex
        }
        if mergeChanges, object.hasChanges { return reload([object]) }
        // Earlier changes can be undone, the refresh cannot.
        undo.registerChanges()
        changeTracker.withoutRecording {
            if object.life.isDeleted { undo.deletePropagation.restore([object]) }
            object.revertRelationships()
            changeTracker.dropUpdate(of: object)
            // Another writer may have moved the object to lists that have been read without it.
            let outdated = object.state.pointee.flags.contains(.outdated) ? object.lastRow : nil
            object.turnIntoFault()
            if let outdated {
                object.fireFault()
                for row in [outdated, object.lastRow].compactMap(\.self) { loader.unloadMembers(namedBy: row) }
            }
            if object.state.pointee.changes != nil { object.noteChange() }
            if changeTracker.isRestored(object) {
                // The save clears references to deleted objects. It finds them in the row and in the changes.
                object.fireFault()
                object.reestablishInverses()
            }
        }
    }

    /// Turns all unchanged objects into faults, and reloads the rows of the changed objects.
    func refreshAll() {
        let objects = identityMap.registeredObjects
        loader.forgetReadFailures()
        reload((changeTracker.updated.objects + changeTracker.deleted.objects).filter { $0.lastRow != nil })
        for object in objects where !object.hasChanges { refresh(object, mergeChanges: false) }
        undo.commitMerger.announceRefresh()
    }

    /// Reloads the rows of changed objects, which keep their changes.
    private func reload(_ objects: [any GraphObject]) {
        loader.reload(objects, changedObjects: .takeRow, missingRows: .keepObjects, failures: .report)
        // The program has seen the rows of a file that has replaced the store's file.
        for object in objects where object.state.pointee.row != nil { object.state.pointee.flags.remove(.replaced) }
    }
}
