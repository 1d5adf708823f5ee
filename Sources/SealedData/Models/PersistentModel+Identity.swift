import ObjectGraph

extension PersistentModel {
    /// The identity of the model; temporary until it is saved.
    public var persistentModelID: PersistentIdentifier { PersistentIdentifier(managedObjectID) }

    /// The identity of the model, unless the class declares a property `id`.
    public var id: PersistentIdentifier { persistentModelID }

    /// Whether the model has unsaved changes.
    public var hasChanges: Bool { isInserted || isUpdated || hasPendingDeletion }

    /// Whether the next save deletes the model, or the store no longer has the model: another context deleted it, or
    /// its identifier does not exist.
    ///
    /// It is false again after the model's context has saved the deletion, as in SwiftData. ``modelContext`` is then
    /// nil, as for every model that the store no longer has. The last known values of a deleted model remain readable.
    public var isDeleted: Bool { isObjectDeleted && !hasSavedDeletion }
}
