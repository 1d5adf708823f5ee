import Foundation
import ObjectGraph

/// A store of a test's own, in a temporary folder that goes away with it.
final class TestStore {
    let kind: StoreKind
    let model: ManagedObjectModel
    let counter = RequestCounter()
    let url: URL
    private let classes: [String: any GraphObject.Type]
    private let folder: URL
    /// The coordinator of ``context()``.
    private(set) var coordinator: PersistentStoreCoordinator

    private static let registration: Void = {
        PersistentStoreCoordinator.registerStoreClass(CountingStore.self, type: CountingStore.type)
    }()

    init(
        _ kind: StoreKind,
        _ model: ManagedObjectModel = Fixtures.library,
        classes: [String: any GraphObject.Type] = [:]
    ) throws {
        Self.registration
        self.kind = kind
        self.model = model
        self.classes = classes
        folder = FileManager.default.temporaryDirectory.appending(path: "ObjectGraphTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appending(path: "store.sealed")
        coordinator = PersistentStoreCoordinator(model: model, classes: classes)
        try coordinator.addPersistentStore(description())
    }

    deinit {
        try? coordinator.removeAllStores()
        ReferenceBacking.remove(url)
        try? FileManager.default.removeItem(at: folder)
    }

    func description(isReadOnly: Bool = false) -> PersistentStoreDescription {
        PersistentStoreDescription(
            type: CountingStore.type,
            url: url,
            isReadOnly: isReadOnly,
            options: kind.options.merging(["kind": kind, "counter": counter]) { $1 }
        )
    }

    /// A context of the store's coordinator.
    func context() -> ManagedObjectContext { ManagedObjectContext(coordinator: coordinator) }

    /// Closes the store and opens it with a new coordinator.
    func reopen() throws {
        try coordinator.removeAllStores()
        coordinator = try anotherCoordinator()
    }

    /// A further coordinator on the same data, as another process would have it.
    func anotherCoordinator(isReadOnly: Bool = false) throws -> PersistentStoreCoordinator {
        let coordinator = PersistentStoreCoordinator(model: model, classes: classes)
        try coordinator.addPersistentStore(description(isReadOnly: isReadOnly))
        return coordinator
    }
}
