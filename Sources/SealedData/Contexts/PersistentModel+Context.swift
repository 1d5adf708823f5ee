import ObjectGraph

extension PersistentModel {
    /// The context that fetched the model, or into which it was inserted.
    ///
    /// It is nil for a model that is in no context: a new model that was deleted before it was saved, and a model whose
    /// deletion was saved, by its context or by another context whose save its context has merged. Undoing a saved
    /// deletion returns the model to its context.
    public var modelContext: ModelContext? {
        guard let context = managedObjectContext?.owner as? ModelContext, !isMissing else { return nil }
        return context
    }
}
