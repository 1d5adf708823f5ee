import ObjectGraph

extension PersistentModel {
    /// The identity of the model; temporary until it is saved.
    public var persistentModelID: PersistentIdentifier { PersistentIdentifier(managedObjectID) }

    /// The identity of the model, where the class has no property `id` of its own.
    public var id: PersistentIdentifier { persistentModelID }

    /// The context that the model was inserted into or fetched by.
    ///
    /// It is nil for a model that is in no context. That includes a model whose deletion was saved, by its own context or
    /// by another one whose save its context has taken in, and a new model that was deleted before it was saved. A saved
    /// deletion that is undone brings the model back into its context.
    public var modelContext: ModelContext? {
        guard let context = managedObjectContext?.owner as? ModelContext, !isMissing else { return nil }
        return context
    }

    /// Whether the model has changes that have not been saved.
    public var hasChanges: Bool { isInserted || isUpdated || hasPendingDeletion }

    /// Whether the next save deletes the model, or the store is found to have no such model: another context deleted it, or
    /// its identifier leads nowhere.
    ///
    /// It is false again once the model's own context has saved the deletion, as in SwiftData. ``modelContext`` is nil
    /// then, and for every model that the store does not have any more. The last values of a deleted model can be read.
    public var isDeleted: Bool { isObjectDeleted && !hasSavedDeletion }
}
