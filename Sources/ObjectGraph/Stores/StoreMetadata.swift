public import Foundation

/// The identity, type and format of a store.
public struct StoreMetadata: Hashable, Sendable {
    /// The identity of the store, fixed when it was created.
    public var uuid: UUID
    /// The type under which the store's class is registered.
    public var type: String
    /// The version of the file format; 0 for a store without a format version.
    public var formatVersion: Int

    /// Makes metadata.
    public init(uuid: UUID, type: String, formatVersion: Int = 0) {
        self.uuid = uuid
        self.type = type
        self.formatVersion = formatVersion
    }
}
