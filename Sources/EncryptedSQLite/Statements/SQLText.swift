/// The text of a statement with its hash.
///
/// A lookup by plain text in the cache of a connection hashes the text every time, which for a long text costs as much
/// as a lookup by primary key. Code that runs the same statement often keeps an `SQLText` and computes the hash once.
///
/// Public for the same reason as `Statement`.
public struct SQLText: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The statement.
    package let text: String
    @usableFromInline let hash: Int

    /// Hashes the text. Complexity: O(length of the text).
    @usableFromInline
    package init(_ text: String) {
        self.text = text
        hash = text.hashValue
    }

    /// Creates the text of a statement from a literal.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// Compares the texts.
    public static func == (left: SQLText, right: SQLText) -> Bool {
        left.hash == right.hash && left.text == right.text
    }

    /// Hashes the stored hash.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}
