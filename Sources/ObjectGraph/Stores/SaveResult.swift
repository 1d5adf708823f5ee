/// The effects of a save in a store.
public struct SaveResult: Sendable {
    /// The objects whose rows the store has changed although the request does not contain them, since they referred to
    /// objects that the save has related to other objects. Each such row has a later version.
    public var cleared: [BatchChanges.Keys]
    /// The transaction of the save in the history of the store; nil if the store records none.
    package var historyPosition: PersistentHistoryPosition?

    /// Makes a result.
    public init(cleared: [BatchChanges.Keys] = []) {
        self.cleared = cleared
    }

    package init(cleared: [BatchChanges.Keys], historyPosition: PersistentHistoryPosition?) {
        self.cleared = cleared
        self.historyPosition = historyPosition
    }
}
