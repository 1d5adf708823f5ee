@testable import ObjectGraph
@testable import SealedData
import SealedStore

extension ModelContext {
    /// The problems that the store's check finds.
    func storeProblems() throws -> [String] {
        let store = try graph.coordinator.store(for: graph.model.entities[0]).store
        return try (store as? SealedStore)?.check().map(\.description) ?? ["the store cannot be checked"]
    }
}

extension RandomWorld {
    /// Saves the unsaved changes.
    ///
    /// - Returns: The problems that the store's check finds afterwards.
    func problemsAfterSave() throws -> [String] {
        try context.save()
        return try context.storeProblems()
    }
}
