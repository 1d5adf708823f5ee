public import Foundation
import ObjectGraph
import SealedStore

extension ModelContext {
    /// Returns the global identifier of a saved model: a UUID of version 7 that is made with its insertion, is unique
    /// across files, and stays with the model in copies of the store. A deleted model keeps it until a migration.
    ///
    /// - Returns: Nil if the model is not saved, or its store gives no identifiers: they need
    ///   `HistoryOptions.identifiesObjects`.
    /// - Throws: errors of the store.
    public func globalIdentifier(for identifier: PersistentIdentifier) throws -> UUID? {
        guard let id = identifier.managedObjectID(in: graph.coordinator), !id.isTemporary else { return nil }
        let store = graph.coordinator.sealedStores.first { $0.metadata.uuid == id.storeUUID }
        return try store?.globalIdentifier(of: id)
    }

    /// Returns the identifier of the model with a global identifier; nil if no store has such a model, or no longer has
    /// it.
    ///
    /// - Throws: errors of the stores.
    public func persistentIdentifier(forGlobalIdentifier identifier: UUID) throws -> PersistentIdentifier? {
        for store in graph.coordinator.sealedStores {
            if let id = try store.objectID(forGlobalIdentifier: identifier) { return PersistentIdentifier(id) }
        }
        return nil
    }
}
