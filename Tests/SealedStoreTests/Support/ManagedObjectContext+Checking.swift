@testable import ObjectGraph
import SealedStore

extension ManagedObjectContext {
    /// What the own check of the store finds wrong.
    func storeProblems() throws -> [String] {
        let store = try coordinator.store(for: model.entities[0]).store
        return try (store as? SealedStore)?.check().map(\.description) ?? ["the store cannot be checked"]
    }
}
