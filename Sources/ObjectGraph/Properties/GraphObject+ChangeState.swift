// Pending delete rules affect the state of other objects. They are applied before a program reads it.

extension GraphObject {
    /// Whether the next save inserts the object.
    public var isInserted: Bool {
        applyDeleteRules()
        return state.pointee.life.isInserted
    }

    /// Whether the next save updates the object.
    public var isUpdated: Bool {
        applyDeleteRules()
        return state.pointee.life.isUpdated
    }

    /// Whether the next save deletes the object.
    public var hasPendingDeletion: Bool {
        applyDeleteRules()
        return state.pointee.life.isDeleted
    }

    /// Whether the object was deleted, by a saved or an unsaved deletion, or is missing in the store.
    public var isObjectDeleted: Bool {
        applyDeleteRules()
        return state.pointee.life.isDeletedOrMissing
    }

    /// Whether the store has no row for the object: its deletion was saved, its row is missing in the store, or it was
    /// inserted and deleted between two saves.
    package var isMissing: Bool {
        applyDeleteRules()
        return state.pointee.life.isMissing
    }

    /// Whether the object is missing because its own context saved its deletion.
    package var hasSavedDeletion: Bool { isMissing && life == .erased }

    private func applyDeleteRules() { state.pointee.handler?.context?.deletePropagation.run() }
}
