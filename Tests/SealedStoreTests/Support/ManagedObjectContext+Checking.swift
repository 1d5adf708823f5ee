@testable import ObjectGraph
import SealedStore

extension ManagedObjectContext {
    /// The problems that the store's check finds.
    func storeProblems() throws -> [String] {
        let store = try coordinator.store(for: model.entities[0]).store
        return try (store as? SealedStore)?.check().map(\.description) ?? ["the store cannot be checked"]
    }
}
