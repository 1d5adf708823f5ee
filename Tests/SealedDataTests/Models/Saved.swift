import SealedData
import Testing

/// A model that was saved, as a context that has not written it reads it.
struct Saved<Model: PersistentModel> {
    /// The context that has read the model.
    let context: ModelContext
    let model: Model

    /// Saves a new model, and those that it is related to, in a store of its own in memory.
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
