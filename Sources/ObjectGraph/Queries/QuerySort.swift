/// One key of the order of a fetch's results.
///
/// Results that are equal in all keys come in the order of their primary keys.
public struct QuerySort: Hashable, Sendable {
    /// The value to sort by.
    public var expression: QueryExpression
    /// Whether small values come first.
    public var ascending: Bool

    /// Makes a sort key. Null is smaller than every value.
    public init(_ expression: QueryExpression, ascending: Bool = true) {
        self.expression = expression
        self.ascending = ascending
    }
}
