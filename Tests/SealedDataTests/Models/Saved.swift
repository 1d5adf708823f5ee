import SealedData
import Testing

/// A saved model, read by another context.
struct Saved<Model: PersistentModel> {
    /// The context that has read the model.
    let context: ModelContext
    let model: Model

    /// Saves a new model and its related models in a separate store in memory.
    init(_ new: Model) throws {
        let container = try ModelContainer(
            for: Model.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let writer = ModelContext(container)
        writer.insert(new)
        try writer.save()
        let id = new.persistentModelID
        context = ModelContext(container)
        model = try #require(try context.fetch(FetchDescriptor<Model>()).first { $0.persistentModelID == id })
    }
}
