/// One key of the order of a fetch's results.
///
/// Results that are equal in all keys come in the order of their primary keys.
public struct QuerySort: Hashable, Sendable {
    /// The value to sort by.
    public var expression: QueryExpression
    /// Whether small values come first.
    public var ascending: Bool
    /// How texts are ordered.
    public var textOrder: TextOrder
    /// Where null comes; nil for the side of the small values.
    public var nullPlacement: NullPlacement?

    /// Where null comes in an order.
    public enum NullPlacement: String, Hashable, Sendable {
        case first, last
    }

    /// Makes a sort key. Null is smaller than every value, unless it has a place of its own.
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

    /// Whether a value comes before another one; nil where both are at the same place.
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
