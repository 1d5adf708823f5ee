import Foundation
@testable import ObjectGraph
@testable import SealedStore
import Testing

/// A store that runs a function, such as the save of another container, between the preparation of a save and its
/// transaction.
final class InterruptedStore: SealedStore, @unchecked Sendable {
    // Only the thread of the test uses it.
    var beforeSave: (() throws -> Void)?

    override func execute(_ request: SaveChangesRequest, with context: RequestContext) throws -> SaveResult {
        let interruption = beforeSave
        beforeSave = nil
        try interruption?()
        return try super.execute(request, with: context)
    }

    /// Opens a file as a store of a coordinator.
    static func add(to coordinator: PersistentStoreCoordinator, _ url: URL, _ history: HistoryOptions?) throws {
        SealedStore.register()
        PersistentStoreCoordinator.registerStoreClass(InterruptedStore.self, type: "Interrupted")
        var options: [String: any Sendable] = [keyOption: Library.key]
        if let history { options[historyOption] = history }
        try coordinator.addPersistentStore(
            PersistentStoreDescription(type: "Interrupted", url: url, options: options)
        )
    }

    /// The store of a context.
    static func of(_ context: ManagedObjectContext) throws -> InterruptedStore {
        try #require(try context.coordinator.store(for: context.model.entities[0]).store as? InterruptedStore)
    }
}
