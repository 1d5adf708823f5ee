public import Foundation

/// Which store to open, and how.
public struct PersistentStoreDescription: Sendable {
    /// The type that the store's class is registered under.
    public var type: String
    /// The file; nil for a store in memory.
    public var url: URL?
    /// Whether the store refuses to save.
    public var isReadOnly: Bool
    /// What only stores of the type understand, such as a key.
    public var options: [String: any Sendable]
    /// The names of the entities that live in the store; nil for all.
    public var entityNames: Set<String>?

    /// Makes a description.
    public init(
        type: String,
        url: URL?,
        isReadOnly: Bool = false,
        options: [String: any Sendable] = [:],
        entityNames: Set<String>? = nil
    ) {
        self.type = type
        self.url = url
        self.isReadOnly = isReadOnly
        self.options = options
        self.entityNames = entityNames
    }
}
