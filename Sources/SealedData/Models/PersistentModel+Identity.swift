import ObjectGraph

extension PersistentModel {
    /// The identity of the model; temporary until it is saved.
    public var persistentModelID: PersistentIdentifier { PersistentIdentifier(managedObjectID) }

    /// The identity of the model, where the class has no property `id` of its own.
    public var id: PersistentIdentifier { persistentModelID }

    /// The context that the model was inserted into or fetched by; nil outside any.
    public var modelContext: ModelContext? { managedObjectContext?.owner as? ModelContext }

    /// Whether the model has changes that have not been saved.
    public var hasChanges: Bool { isInserted || isUpdated || hasPendingDeletion }

    /// Whether the model was deleted, be the deletion saved or not. Its last values can still be read.
    public var isDeleted: Bool { isObjectDeleted }
}
