// The property itself stands among the stored ones.

extension ManagedObjectContext {
    /// Undoes the last group of changes. Does nothing without an undo manager.
    ///
    /// - Precondition: The undo manager has no more than one open group.
    public func undo() {
        processPendingChanges()
        undoManager?.undo()
    }

    /// Does the group of changes again that was undone last. Does nothing without an undo manager.
    public func redo() {
        processPendingChanges()
        undoManager?.redo()
    }

    /// Begins or ends recording.
    func undoManagerDidChange(from old: UndoManager?) {
        guard undoManager !== old else { return }
        // What was deleted before is not to be recorded in part.
        propagateDeletes()
        old?.removeObserver(self)
        old?.removeAllActions(withTarget: self)
        recorder = undoManager.map { _ in ChangeRecorder() }
        undoManager?.addObserver(self)
        for object in inserted.objects {
            if recorder == nil {
                object.state.pointee.flags.remove(.recordsChanges)
            } else {
                object.state.pointee.flags.insert(.recordsChanges)
            }
        }
    }

    /// Registers the changes since the last time as one operation. Those that were made while the undo manager's
    /// registration was disabled are dropped.
    func registerUndo() {
        guard let recorder, let undoManager else { return }
        propagateDeletes()
        guard !recorder.isEmpty else { return }
        let changes = recorder.take(saveCount: saveCount)
        guard undoManager.isUndoRegistrationEnabled else { return }
        let needsGroup = !undoManager.groupsByEvent && undoManager.groupingLevel == 0
        if needsGroup { undoManager.beginUndoGrouping() }
        undoManager.registerUndo(withTarget: self) { $0.revert(changes) }
        if needsGroup { undoManager.endUndoGrouping() }
    }

    /// Forgets all changes of this context that could be undone or redone.
    func forgetUndo() {
        _ = recorder?.take(saveCount: saveCount)
        undoManager?.removeAllActions(withTarget: self)
    }

    /// Makes changes that are not to be undone.
    func withoutRecording<R>(_ body: () throws -> R) rethrows -> R {
        guard let recorder else { return try body() }
        self.recorder = nil
        defer { self.recorder = recorder }
        return try body()
    }
}

extension ManagedObjectContext: UndoCheckpointObserver {
    func undoManagerReachedCheckpoint(_ undoManager: UndoManager) { registerUndo() }
}
