public import Foundation
import ObjectGraph
import Synchronization

extension ModelContext {
    /// Posted before a context saves. The notification's object is the context. It has no `userInfo`:
    /// ``insertedModelsArray``, ``changedModelsArray`` and ``deletedModelsArray`` contain the models.
    public static var willSave: Notification.Name {
        observation.store(true, ordering: .relaxed)
        return willSaveName
    }

    /// Posted after a context has saved. The notification's object is the context, and ``NotificationKey`` names the
    /// entries of its `userInfo`. The identifiers of the models also have the keys `"inserted"`, `"updated"` and
    /// `"deleted"`.
    public static var didSave: Notification.Name {
        observation.store(true, ordering: .relaxed)
        return didSaveName
    }

    /// The keys of a notification's `userInfo`. Each entry has the case and its raw value as keys.
    public enum NotificationKey: String {
        /// Unused.
        case queryGeneration
        /// Unused, because a save invalidates no identifiers.
        case invalidatedAllIdentifiers
        /// The identifiers of the models that were inserted, as `[PersistentIdentifier]`.
        case insertedIdentifiers
        /// The identifiers of the models that were updated, as `[PersistentIdentifier]`.
        case updatedIdentifiers
        /// The identifiers of the models that were deleted, as `[PersistentIdentifier]`.
        case deletedIdentifiers
        /// The positions of the save in the histories of the stores that record it, as `[String: any HistoryToken]` by
        /// the identities of the stores.
        case historyTokens
    }

    static let willSaveName = Notification.Name("SealedData.ModelContext.willSave")
    static let didSaveName = Notification.Name("SealedData.ModelContext.didSave")

    /// Whether the program has ever read one of the names. If not, no observer of the notifications can exist, and a
    /// save does not need to collect identifiers.
    static var areSavesObserved: Bool { observation.load(ordering: .relaxed) }

    private static let observation = Atomic(false)

    /// The positions of a save in the histories of the stores; nil if no store records it.
    ///
    /// - Parameter positions: The positions in the histories of the coordinator's stores, by the identities of the stores.
    private func historyTokens(_ positions: [UUID: PersistentHistoryPosition]) -> [String: any HistoryToken]? {
        var tokens: [String: any HistoryToken] = [:]
        if !positions.isEmpty { tokens = StoreHistory.tokens(of: positions.mapValues(\.self), graph.coordinator) }
        for store in stores.dataStores {
            if let token = store.takeHistoryToken(for: editingState) { tokens[store.identifier] = token }
        }
        return tokens.isEmpty ? nil : tokens
    }

    /// Saves, and posts both notifications.
    func saveObserved() throws {
        NotificationCenter.default.post(name: Self.willSaveName, object: self)
        let models = SavedModels(graph)
        for store in stores.dataStores { _ = store.takeHistoryToken(for: editingState) }
        let positions = try graph.saveReturningPositions()
        var information = models.information
        if let historyTokens = historyTokens(positions) {
            information[NotificationKey.historyTokens] = historyTokens
            information[NotificationKey.historyTokens.rawValue] = historyTokens
        }
        NotificationCenter.default.post(name: Self.didSaveName, object: self, userInfo: information)
    }
}

/// The models that a save writes.
private struct SavedModels {
    private let inserted: [any GraphObject]
    private let updated: [any GraphObject]
    private let deleted: [any GraphObject]

    init(_ graph: ManagedObjectContext) {
        inserted = graph.insertedObjects
        updated = graph.updatedObjects
        deleted = graph.deletedObjects
    }

    /// The current identifiers of the models, as a notification's `userInfo`. SwiftData documents the cases of its
    /// enum, whose raw values it declares, and posts the short names: programs read all three.
    var information: [AnyHashable: Any] {
        let groups: [(ModelContext.NotificationKey, String, [any GraphObject])] = [
            (.insertedIdentifiers, "inserted", inserted),
            (.updatedIdentifiers, "updated", updated),
            (.deletedIdentifiers, "deleted", deleted),
        ]
        return groups.reduce(into: [:]) { information, group in
            let (key, shortName, objects) = group
            let identifiers = objects.map { PersistentIdentifier($0.managedObjectID) }
            information[key] = identifiers
            information[key.rawValue] = identifiers
            information[shortName] = identifiers
        }
    }
}
