public import ObjectGraph

@_exported public import class ObjectGraph.UndoManager

extension ModelContext {
    /// What records the changes of models, so that they can be undone and redone; nil, which it is at first, for nothing.
    ///
    /// ```swift
    /// context.undoManager = UndoManager()
    /// trip.name = "Nara"
    /// context.undoManager?.undo()
    /// ```
    ///
    /// The changes from one ``processPendingChanges()`` to the next, which fetches and saves call, are undone together, with
    /// all that they entailed in other models. A save leaves them undoable, for another save to write; ``rollback()`` does
    /// not.
    public var undoManager: UndoManager? {
        get { graph.undoManager }
        set { graph.undoManager = newValue }
    }
}
