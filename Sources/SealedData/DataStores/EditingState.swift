public import Foundation

/// The identity of a context in its requests to stores.
public struct EditingState: Identifiable, Sendable {
    /// The identity.
    public let id: UUID
    /// The author of the changes.
    public var author: String?

    /// Makes an identity for a requester other than a context.
    public init(id: UUID = UUID(), author: String? = nil) {
        self.id = id
        self.author = author
    }
}
