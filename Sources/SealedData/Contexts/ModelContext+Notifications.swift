public import Foundation
import ObjectGraph
import Synchronization

extension ModelContext {
    /// Posted before a context saves; the context is the notification's object. It has no `userInfo`: the models are those
    /// of ``insertedModelsArray``, ``changedModelsArray`` and ``deletedModelsArray``.
    public static var willSave: Notification.Name {
        observation.store(true, ordering: .relaxed)
        return willSaveName
    }

    /// Posted after a context has saved; the context is the notification's object, and ``NotificationKey`` names what its
    /// `userInfo` tells.
    public static var didSave: Notification.Name {
        observation.store(true, ordering: .relaxed)
        return didSaveName
    }

    /// The keys of a notification's `userInfo`, by their raw values.
    public enum NotificationKey: String {
        /// Has no value here.
        case queryGeneration
        /// Has no value here: a save invalidates nothing.
        case invalidatedAllIdentifiers
        /// The identifiers of the models that are inserted, as `[PersistentIdentifier]`.
        case insertedIdentifiers
        /// The identifiers of the models that are updated, as `[PersistentIdentifier]`.
        case updatedIdentifiers
        /// The identifiers of the models that are deleted, as `[PersistentIdentifier]`.
        case deletedIdentifiers
    }

    static let willSaveName = Notification.Name("SealedData.ModelContext.willSave")
    static let didSaveName = Notification.Name("SealedData.ModelContext.didSave")

    /// Whether anybody has ever asked for the names: without them nobody can wait for the notifications, and a save need not
    /// look up identifiers.
    static var areSavesObserved: Bool { observation.load(ordering: .relaxed) }

    private static let observation = Atomic(false)

    /// Saves, and tells those who wait for it.
    func saveObserved() throws {
        NotificationCenter.default.post(name: Self.willSaveName, object: self)
        let models = SavedModels(graph)
        try graph.save()
        NotificationCenter.default.post(name: Self.didSaveName, object: self, userInfo: models.identifiers)
    }
}

/// The models that one save is about.
private struct SavedModels {
    private let inserted: [any GraphObject]
    private let updated: [any GraphObject]
    private let deleted: [any GraphObject]

    init(_ graph: ManagedObjectContext) {
        inserted = graph.insertedObjects
        updated = graph.updatedObjects
        deleted = graph.deletedObjects
    }

    /// Their identifiers as they are now, in the form of a notification's `userInfo`.
    var identifiers: [AnyHashable: Any] {
        func ids(_ objects: [any GraphObject]) -> [PersistentIdentifier] {
            objects.map { PersistentIdentifier($0.managedObjectID) }
        }
        return [
            ModelContext.NotificationKey.insertedIdentifiers.rawValue: ids(inserted),
            ModelContext.NotificationKey.updatedIdentifiers.rawValue: ids(updated),
            ModelContext.NotificationKey.deletedIdentifiers.rawValue: ids(deleted),
        ]
    }
}
