/// The text of a statement together with its hash.
///
/// Looking a statement up in a connection's cache by plain text hashes the text every time, which for a long text costs
/// as much as a lookup by primary key. Who runs the same statement often keeps an `SQLText` and pays for the hash once.
///
/// Public for the same reason as `Statement`.
public struct SQLText: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The statement.
    package let text: String
    @usableFromInline let hash: Int

    /// Complexity: O(length of the text).
    @usableFromInline
    package init(_ text: String) {
        self.text = text
        hash = text.hashValue
    }

    /// Makes it from a literal.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// Equal texts are equal, whoever made them.
    public static func == (left: SQLText, right: SQLText) -> Bool {
        left.hash == right.hash && left.text == right.text
    }

    /// Hashes by the hash that is kept.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}
