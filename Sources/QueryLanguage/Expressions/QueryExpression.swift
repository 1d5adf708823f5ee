/// The condition of a fetch, or a value computed from an object, as a tree that every store can read.
///
/// Its logic has two values, as Swift's has: a comparison is true or false, never unknown. Equality treats null as a
/// value of its own (`null == null` is true); an order comparison with null is false. Objects are stood for by their
/// keys: a path that ends in a to-one relationship has the destination's key as its value.
public indirect enum QueryExpression: Hashable, Sendable {
    /// A constant.
    case literal(Value)
    /// A constant that is given apart from the expression, by its number. Stores that prepare statements make it of a
    /// ``literal(_:)``; nowhere else does it have a value.
    case parameter(Int, AttributeType.Storage)
    /// The object that a variable stands for, as its key. Variable 0 is the fetched object; quantifiers bind others.
    case variable(Int)
    /// The element of a composite value that a variable stands for, and its type.
    case element(Int, AttributeType)
    /// The value at the end of a path of properties; null as soon as a to-one relationship on the way has no
    /// destination. All steps but the last are to-one relationships.
    case path(from: Int, [Property])
    /// The part of a composite value that keys lead to, of a type; null where there is none, or one of another type.
    case component([ComponentKey], of: QueryExpression, type: AttributeType)
    /// A comparison of two values.
    case comparison(Comparison, QueryExpression, QueryExpression)
    /// Whether all are true; true for none.
    case and([QueryExpression])
    /// Whether one is true; false for none.
    case or([QueryExpression])
    /// Whether it is false.
    case not(QueryExpression)
    /// Whether the value equals one of the constants.
    case isMember(QueryExpression, of: [Value])
    /// A calculation with two numbers; null where one is null.
    case arithmetic(Arithmetic, QueryExpression, QueryExpression)
    /// The second where the first is true, else the third.
    case conditional(QueryExpression, QueryExpression, QueryExpression)
    /// The first that is not null.
    case coalesce([QueryExpression])
    /// A function of values.
    case function(Function, [QueryExpression])
    /// Whether `condition` holds for a member of a collection, or for all of them.
    case quantified(Quantifier, CollectionSource, variable: Int, condition: QueryExpression)
    /// What is computed from the values of those members of a collection for which `condition` holds; null where the
    /// collection is that of no object. The members themselves are what is counted where the value is their variable.
    case aggregated(
        Aggregate,
        CollectionSource,
        variable: Int,
        value: QueryExpression,
        condition: QueryExpression
    )
    /// Whether the object at the end of a path of to-one relationships is of an entity or one that inherits from it; false
    /// where the path leads nowhere.
    case isKind(from: Int, [Property], of: Entity)
    /// A value computed from all objects of a group, which only a ``DictionaryFetchRequest`` has: elsewhere it is
    /// refused. Objects for which the expression is null do not count.
    case aggregate(Aggregate, of: QueryExpression)

    /// How two values are compared.
    public enum Comparison: String, Hashable, Sendable {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    }

    /// How two numbers are combined. Integers overflow to an error, and so does their division by zero.
    public enum Arithmetic: String, CaseIterable, Hashable, Sendable {
        case add, subtract, multiply, divide, remainder
    }

    /// How many members have to fulfil a condition.
    public enum Quantifier: String, Hashable, Sendable {
        case any, all
    }

    /// What is computed from the values of a group.
    public enum Aggregate: String, Hashable, Sendable {
        /// How many values there are; 0 for none.
        case count
        /// How many different values there are; 0 for none.
        case distinctCount
        /// The sum of numbers; null for none. A sum of integers that does not fit 64 bits is
        /// ``QueryError/arithmeticOverflow``.
        case sum
        /// The average of numbers, as a real; null for none.
        case average
        /// The smallest value; null for none.
        case minimum
        /// The largest value; null for none.
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
