/// Registers the changes of a context with its undo manager, and reverts them.
final class UndoRegistration {
    let commitMerger: CommitMerger
    let deletePropagation: DeletePropagation
    let changeTracker: ChangeTracker
    var loader: ObjectLoader { commitMerger.loader }
    var identityMap: IdentityMap { changeTracker.identityMap }

    init(_ deletePropagation: DeletePropagation, _ commitMerger: CommitMerger) {
        self.deletePropagation = deletePropagation
        self.commitMerger = commitMerger
        changeTracker = deletePropagation.changeTracker
    }

    /// Replaces the undo manager. Changes that the old undo manager could undo are forgotten.
    ///
    /// - Parameter target: The context, which is the target of the registered operations.
    func setUndoManager(_ manager: UndoManager?, target: AnyObject) {
        guard manager !== changeTracker.undoManager else { return }
        // The effects of earlier deletions must be recorded completely or not at all.
        deletePropagation.run()
        changeTracker.undoManager?.removeObserver(self)
        changeTracker.setUndoManager(manager, target: target)
        manager?.addObserver(self)
    }

    /// Registers the changes since the last call as one operation. Changes that were made while the registration of the
    /// undo manager was disabled are dropped.
    func registerChanges() {
        guard let recorder = changeTracker.recorder, let undoManager = changeTracker.undoManager,
            let target = changeTracker.undoTarget
        else { return }
        deletePropagation.run()
        guard !recorder.isEmpty else { return }
        let changes = recorder.take(saveCount: changeTracker.saveCount)
        guard undoManager.isUndoRegistrationEnabled else { return }
        let needsGroup = !undoManager.groupsByEvent && undoManager.groupingLevel == 0
        if needsGroup { undoManager.beginUndoGrouping() }
        // The context is the target and owns the registration: the operation runs only while both exist.
        undoManager.registerUndo(withTarget: target) { [unowned self] _ in revert(changes) }
        if needsGroup { undoManager.endUndoGrouping() }
    }

    /// Loads the members of deleted objects, which are lost with the save of the deletion, if changes are recorded.
    func loadMembersOfDeletedObjects() {
        guard changeTracker.recorder != nil else { return }
        for object in changeTracker.deleted.objects { object.loadMembers() }
    }
}

extension UndoRegistration: UndoCheckpointObserver {
    func undoManagerReachedCheckpoint(_ undoManager: UndoManager) { registerChanges() }
}
