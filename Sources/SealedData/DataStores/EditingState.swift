public import Foundation

/// The identity of a context, as the stores that it asks know it.
public struct EditingState: Identifiable, Sendable {
    /// The identity.
    public let id: UUID
    /// Who makes the changes, as the history tells it.
    public var author: String?

    /// Makes the identity of something that asks a store, as a context does.
    public init(id: UUID = UUID(), author: String? = nil) {
        self.id = id
        self.author = author
    }
}
