/// An object that gathers changes in order to register them together.
protocol UndoCheckpointObserver: AnyObject {
    /// Registers the gathered changes.
    func undoManagerReachedCheckpoint(_ undoManager: UndoManager)
}
