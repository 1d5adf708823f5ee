#if canImport(Darwin)
    public import Foundation
    import ObjectGraph
#else
    public import ObjectGraph

    @_exported public import class ObjectGraph.UndoManager
#endif

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
    ///
    /// On Apple's platforms `UndoManager` is Foundation's class, for example the undo manager of SwiftUI's environment.
    /// On other platforms it is a class of `ObjectGraph` with the same members. It belongs to the actor or thread of
    /// the context.
    public var undoManager: UndoManager? {
        get { graph.undoManager }
        set { graph.undoManager = newValue }
    }
}
