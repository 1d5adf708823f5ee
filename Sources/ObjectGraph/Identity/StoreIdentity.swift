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
