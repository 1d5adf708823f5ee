public import Foundation

/// The identity of one of a coordinator's stores.
public struct StoreIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The identity of the store since its creation.
    public let uuid: UUID
    /// The type under which the store's class is registered.
    public let type: String
    /// The file; nil for a store in memory.
    public let url: URL?
    /// The names of the store's entities, in the order of the model.
    public let entityNames: [String]

    /// Makes an identity.
    public init(uuid: UUID, type: String, url: URL?, entityNames: [String]) {
        self.uuid = uuid
        self.type = type
        self.url = url
        self.entityNames = entityNames
    }

    /// The type of the store, and its entities.
    public var description: String { "\(type) store of \(entityNames.joined(separator: ", "))" }

    /// The sort key of the order in which a save locks stores: the same for all processes that use the same files.
    var lockingOrder: (String, String) {
        (uuid.uuidString, url?.resolvingSymlinksInPath().path(percentEncoded: false) ?? "")
    }
}

extension ObjectGraphError {
    /// The outcome of a save over several stores that was not committed to all of them.
    public struct IncompleteSave: Sendable {
        /// The stores that have the changes. Their objects have no unsaved changes.
        public let savedStores: [StoreIdentity]
        /// The stores that have none of the changes. The next save writes them.
        public let unsavedStores: [StoreIdentity]
        /// The error of the first store whose commit failed.
        public let cause: any Error
    }
}
