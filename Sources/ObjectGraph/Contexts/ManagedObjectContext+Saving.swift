package import Foundation

extension ManagedObjectContext {
    /// Writes all changes in one transaction, and announces them to the coordinator's other contexts.
    ///
    /// If the changed objects belong to several stores, each store has its own transaction. All stores write before the
    /// first one commits, so that an error in any of them leaves all of them unchanged. Only if a commit fails after
    /// another store has committed, the save is incomplete.
    ///
    /// Conflicts are resolved by the ``mergePolicy``. If the save throws, neither the store nor the context has
    /// changed, and the save can be repeated after the cause is removed.
    ///
    /// - Throws: ``ObjectGraphError/validation(_:)`` with every value that cannot be saved;
    ///   ``ObjectGraphError/conflicts(_:)`` if objects changed in the store since they were read, and
    ///   ``ObjectGraphError/notUnique(_:)`` if values are not unique, unless the policy resolves it;
    ///   ``ObjectGraphError/unreadable(_:)`` if values could not be read, even without changes to save, until
    ///   ``forgetReadFailures()``, ``rollback()`` or ``refresh(_:mergeChanges:)``;
    ///   ``ObjectGraphError/incompleteSave(_:)`` if several stores are saved and a store cannot commit after another
    ///   store did; ``ObjectGraphError/saveInProgress`` if `willSave()` or a validation of an object saves the context;
    ///   ``ObjectGraphError/usedByAnotherThread`` if another thread is saving the context; errors of the stores.
    public func save() throws { _ = try saveReturningPositions() }

    /// Saves, and returns the transactions of the save in the histories of the stores that record it, by the identities of
    /// the stores.
    ///
    /// - Throws: as ``save()``.
    package func saveReturningPositions() throws -> [UUID: PersistentHistoryPosition] {
        // Checked before the delivery, which would use the context as well.
        try savingThread.requireNoSave()
        // A save that throws may have merged the changes of other contexts, or saved a part.
        defer { changeCollector.deliver() }
        let operation = SaveOperation(mergePolicy: mergePolicy, permanentKeys, undoRegistration, savingThread)
        try operation.run()
        return operation.historyPositions
    }

    /// Drops all changes. New objects leave the context, and keep their values and the relationships among themselves.
    /// Changed and deleted objects have the values of their rows again, and objects that other contexts have changed
    /// since are reloaded. A rollback cannot be undone.
    public func rollback() {
        changeReverter.rollback()
        changeCollector.deliver()
    }

    /// Releases all objects and drops all changes. Objects to which the program refers keep their last values and
    /// identifiers. A pinned context moves to the current state of its stores.
    public func reset() {
        changeReverter.rollback()
        identityMap.detachAll()
        changeCollector.noteReset()
        // If a store has no snapshot of its current state, the context stays pinned to the previous state.
        if pinnedGeneration.token != nil { try? setQueryGeneration(from: .current) }
        changeCollector.deliver()
    }

    // MARK: Undo

    /// Undoes the last group of changes. Does nothing without an undo manager.
    ///
    /// - Precondition: The undo manager has no more than one open group.
    public func undo() {
        processPendingChanges()
        undoManager?.undo()
    }

    /// Redoes the last undone group of changes. Does nothing without an undo manager.
    public func redo() {
        processPendingChanges()
        undoManager?.redo()
    }
}
