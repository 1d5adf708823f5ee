import Foundation
@testable import ObjectGraph
import TestSupport

/// A store for one test, in a temporary folder that is removed with its last context.
final class TestStore {
    let kind: StoreKind
    let model: ManagedObjectModel
    let counter = RequestCounter()
    private let classes: [String: any GraphObject.Type]
    private let folder = TemporaryFolder(willRemove: ReferenceBacking.removeAll)
    private let isInMemory: Bool
    /// The coordinator of ``context()``.
    private(set) var coordinator: PersistentStoreCoordinator

    private static let registration: Void = {
        PersistentStoreCoordinator.registerStoreClass(CountingStore.self, type: CountingStore.type)
    }()

    /// - Parameter isInMemory: Whether a sealed store is in memory, so that it cannot be opened again.
    init(
        _ kind: StoreKind,
        _ model: ManagedObjectModel = Fixtures.library,
        classes: [String: any GraphObject.Type] = [:],
        isInMemory: Bool = false
    ) throws {
        Self.registration
        self.kind = kind
        self.isInMemory = isInMemory
        self.model = model
        self.classes = classes
        coordinator = PersistentStoreCoordinator(model: model, classes: classes)
        try coordinator.addPersistentStore(description())
    }

    func description(isReadOnly: Bool = false) -> PersistentStoreDescription {
        PersistentStoreDescription(
            type: CountingStore.type,
            url: isInMemory ? nil : folder.file("store.sealed"),
            isReadOnly: isReadOnly,
            options: kind.options.merging(["kind": kind, "counter": counter, "folder": folder]) { $1 }
        )
    }

    /// A context of the store's coordinator.
    func context() -> ManagedObjectContext { ManagedObjectContext(coordinator: coordinator) }

    /// The problems that the store's check finds; a reference store has no check.
    func problems() throws -> [String] {
        let store = try coordinator.store(for: model.entities[0]).store as? CountingStore
        return try store?.problems() ?? ["the store cannot be checked"]
    }

    /// Closes the store and opens it with a new coordinator.
    func reopen() throws {
        try coordinator.removeAllStores()
        coordinator = try anotherCoordinator()
    }

    /// Another coordinator on the same data, as in another process.
    func anotherCoordinator(isReadOnly: Bool = false) throws -> PersistentStoreCoordinator {
        let coordinator = PersistentStoreCoordinator(model: model, classes: classes)
        try coordinator.addPersistentStore(description(isReadOnly: isReadOnly))
        return coordinator
    }
}
