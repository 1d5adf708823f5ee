extension ChangeTracker {
    /// Starts or stops recording changes for an undo manager.
    ///
    /// - Parameter target: The context, which is the target of the operations that are registered with the undo
    ///   manager.
    func setUndoManager(_ manager: UndoManager?, target: AnyObject) {
        undoManager?.removeAllActions(withTarget: target)
        undoManager = manager
        undoTarget = target
        recorder = manager.map { _ in ChangeRecorder() }
        for object in inserted.objects {
            if recorder == nil {
                object.state.pointee.flags.remove(.recordsChanges)
            } else {
                object.state.pointee.flags.insert(.recordsChanges)
            }
        }
    }

    /// Forgets all changes of the context that could be undone or redone.
    func forgetUndo() {
        _ = recorder?.take(saveCount: saveCount)
        if let undoTarget { undoManager?.removeAllActions(withTarget: undoTarget) }
    }

    /// Makes changes that cannot be undone.
    func withoutRecording<R>(_ body: () throws -> R) rethrows -> R {
        guard let recorder else { return try body() }
        self.recorder = nil
        defer { self.recorder = recorder }
        return try body()
    }
}
