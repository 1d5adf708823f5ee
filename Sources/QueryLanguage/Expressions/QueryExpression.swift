/// The condition of a fetch, or a value computed from an object, as a tree that every store can read.
///
/// Its logic has two values, as in Swift: a comparison is true or false, never unknown. Equality treats null as a
/// separate value (`null == null` is true); an order comparison with null is false. The value of an object is its key:
/// a path that ends in a to-one relationship has the destination's key as its value.
public indirect enum QueryExpression: Hashable, Sendable {
    /// A constant.
    case literal(Value)
    /// A numbered constant that is passed separately. Stores that prepare statements replace a ``literal(_:)`` by it;
    /// it has no value elsewhere.
    case parameter(Int, AttributeType.Storage)
    /// The key of the object that a variable is bound to. Variable 0 is the fetched object; quantifiers bind further
    /// variables.
    case variable(Int)
    /// The element of a composite value that a variable is bound to, and its type.
    case element(Int, AttributeType)
    /// The value at the end of a path of properties; null if a to-one relationship of the path is null. All steps but
    /// the last are to-one relationships.
    case path(from: Int, [Property])
    /// The part of a composite value at a path of keys, of a type; null if there is no such part, or it has another
    /// type.
    case component([ComponentKey], of: QueryExpression, type: AttributeType)
    /// A comparison of two values.
    case comparison(Comparison, QueryExpression, QueryExpression)
    /// Whether all conditions are true; true if empty.
    case and([QueryExpression])
    /// Whether a condition is true; false if empty.
    case or([QueryExpression])
    /// Whether the condition is false.
    case not(QueryExpression)
    /// Whether the value equals one of the constants.
    case isMember(QueryExpression, of: [Value])
    /// A calculation with two numbers; null if one is null.
    case arithmetic(Arithmetic, QueryExpression, QueryExpression)
    /// The second expression if the first is true, otherwise the third.
    case conditional(QueryExpression, QueryExpression, QueryExpression)
    /// The first value that is not null.
    case coalesce([QueryExpression])
    /// A function of values.
    case function(Function, [QueryExpression])
    /// Whether `condition` holds for any member of a collection, or for all members.
    case quantified(Quantifier, CollectionSource, variable: Int, condition: QueryExpression)
    /// An aggregate of the values of the members of a collection for which `condition` holds; null if the owner of the
    /// collection is null. If the value is the variable of the members, the members themselves are counted.
    case aggregated(
        Aggregate,
        CollectionSource,
        variable: Int,
        value: QueryExpression,
        condition: QueryExpression
    )
    /// Whether the object at the end of a path of to-one relationships is of an entity or a descendant of it; false if
    /// there is no object.
    case isKind(from: Int, [Property], of: Entity)
    /// An aggregate of all objects of a group, which only a `DictionaryFetchRequest` has. Other requests throw. Objects
    /// for which the expression is null are ignored.
    case aggregate(Aggregate, of: QueryExpression)

    /// A comparison of two values.
    public enum Comparison: String, Hashable, Sendable {
        /// The values are equal. Null equals only null; NaN equals nothing.
        case equal
        /// The values differ.
        case notEqual
        /// The left value precedes the right one. Null and NaN have no order.
        case less
        /// The left value precedes the right one or equals it.
        case lessOrEqual
        /// The left value follows the right one.
        case greater
        /// The left value follows the right one or equals it.
        case greaterOrEqual
    }

    /// A calculation with two numbers. Overflow of integers and their division by zero are errors.
    public enum Arithmetic: String, CaseIterable, Hashable, Sendable {
        /// The sum.
        case add
        /// The difference.
        case subtract
        /// The product.
        case multiply
        /// The quotient; a quotient of integers has no fraction.
        case divide
        /// The remainder of a division, with the sign of the dividend.
        case remainder
    }

    /// The number of members for which a condition holds.
    public enum Quantifier: String, Hashable, Sendable {
        case any, all
    }

    /// A value computed from the values of a group.
    public enum Aggregate: String, Hashable, Sendable {
        /// The number of values.
        case count
        /// The number of different values.
        case distinctCount
        /// The sum of numbers; null for no numbers. A sum of integers that exceeds 64 bits is
        /// ``QueryError/arithmeticOverflow``.
        case sum
        /// The average of numbers, as a real; null for no numbers.
        case average
        /// The smallest value; null for no values.
        case minimum
        /// The largest value; null for no values.
        case maximum
    }

    /// The constants `true` and `false`.
    public static func bool(_ value: Bool) -> QueryExpression { .literal(.integer(value ? 1 : 0)) }

    /// A path from the fetched object.
    public static func path(_ properties: Property...) -> QueryExpression { .path(from: 0, properties) }

    /// The number of objects in a group.
    public static let objectCount = QueryExpression.aggregate(.count, of: .variable(0))

    /// The number of members of a collection for which a condition holds.
    public static func count(
        _ source: CollectionSource,
        variable: Int,
        condition: QueryExpression = .bool(true)
    ) -> QueryExpression {
        .aggregated(.count, source, variable: variable, value: source.member(variable), condition: condition)
    }
}
