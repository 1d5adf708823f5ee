public import ObjectGraph

@_exported public import class ObjectGraph.UndoManager

extension ModelContext {
    /// The undo manager that records changes of models; nil, the default, disables recording.
    ///
    /// ```swift
    /// context.undoManager = UndoManager()
    /// trip.name = "Nara"
    /// context.undoManager?.undo()
    /// ```
    ///
    /// The changes between two calls of ``processPendingChanges()``, which fetches and saves make, form one undo group,
    /// together with the changes that they cause in other models. Saved changes can be undone; another save then writes
    /// the undone state. A ``rollback()`` discards the recorded changes.
    public var undoManager: UndoManager? {
        get { graph.undoManager }
        set { graph.undoManager = newValue }
    }
}
