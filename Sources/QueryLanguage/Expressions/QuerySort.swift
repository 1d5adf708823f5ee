/// A sort key of a fetch.
///
/// Results that are equal in all sort keys are ordered by their primary keys.
public struct QuerySort: Hashable, Sendable {
    /// The value to sort by.
    public var expression: QueryExpression
    /// Whether the order is ascending.
    public var ascending: Bool
    /// The order of texts.
    public var textOrder: TextOrder
    /// The position of null; nil for before the smallest value.
    public var nullPlacement: NullPlacement?

    /// A position of null in an order.
    public enum NullPlacement: String, Hashable, Sendable {
        case first, last
    }

    /// Creates a sort key. Null is smaller than every value, unless `nullPlacement` is set.
    public init(
        _ expression: QueryExpression,
        ascending: Bool = true,
        textOrder: TextOrder = .lexical,
        nulls nullPlacement: NullPlacement? = nil
    ) {
        self.expression = expression
        self.ascending = ascending
        self.textOrder = textOrder
        self.nullPlacement = nullPlacement
    }

    /// Returns whether `left` precedes `right`; nil if neither precedes the other.
    package func precedes(_ left: Value, _ right: Value) -> Bool? {
        if left.isNull || right.isNull {
            if left.isNull == right.isNull { return nil }
            guard let nullPlacement else { return left.isNull == ascending }
            return left.isNull == (nullPlacement == .first)
        }
        let order =
            if case .text(let left) = left, case .text(let right) = right {
                textOrder.compare(left, right)
            } else {
                left.compare(right)
            }
        return order == 0 ? nil : (order < 0) == ascending
    }
}
