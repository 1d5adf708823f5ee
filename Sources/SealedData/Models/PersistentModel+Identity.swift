import ObjectGraph

extension PersistentModel {
    /// The identity of the model; temporary until it is saved.
    public var persistentModelID: PersistentIdentifier { PersistentIdentifier(managedObjectID) }

    /// The identity of the model, unless the class declares a property `id`.
    public var id: PersistentIdentifier { persistentModelID }

    /// The context that fetched the model, or into which it was inserted.
    ///
    /// It is nil for a model that is in no context. That includes a model whose deletion was saved, by its context or
    /// by another one whose save its context has merged, and a new model that was deleted before it was saved. Undoing
    /// a saved deletion returns the model to its context.
    public var modelContext: ModelContext? {
        guard let context = managedObjectContext?.owner as? ModelContext, !isMissing else { return nil }
        return context
    }

    /// Whether the model has unsaved changes.
    public var hasChanges: Bool { isInserted || isUpdated || hasPendingDeletion }

    /// Whether the next save deletes the model, or the store no longer has the model: another context deleted it, or
    /// its identifier does not exist.
    ///
    /// It is false again after the model's context has saved the deletion, as in SwiftData. ``modelContext`` is then
    /// nil, as for every model that the store no longer has. The last known values of a deleted model remain readable.
    public var isDeleted: Bool { isObjectDeleted && !hasSavedDeletion }
}
