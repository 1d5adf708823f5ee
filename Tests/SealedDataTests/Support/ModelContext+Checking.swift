@testable import ObjectGraph
@testable import SealedData
import SealedStore

extension ModelContext {
    /// What the own check of the store finds wrong.
    func storeProblems() throws -> [String] {
        let store = try graph.coordinator.store(for: graph.model.entities[0]).store
        return try (store as? SealedStore)?.check().map(\.description) ?? ["the store cannot be checked"]
    }
}

extension RandomWorld {
    /// Saves the unsaved changes.
    ///
    /// - Returns: what the own check of the store finds wrong afterwards.
    func problemsAfterSave() throws -> [String] {
        try context.save()
        return try context.storeProblems()
    }
}
