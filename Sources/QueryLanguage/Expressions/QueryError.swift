/// The reason for which a condition or value cannot be computed.
public enum QueryError: Error, Hashable, Sendable {
    /// An integer overflow, a division by zero, or a sum of decimals with more digits than a `Decimal` can hold.
    case arithmeticOverflow
    /// A calculation with a value that has one of several types, such as a number or text, or a signed or unsigned
    /// integer.
    case conflictingTypes
    /// A parameter without a value.
    case unboundParameter
    /// A regular expression with a syntax error.
    case malformedPattern
    /// A regular expression that exceeds the limit of steps for a text, so that it is unknown whether it matches.
    case expensivePattern
    /// An aggregate in a place without groups: in a predicate, in a grouping expression, in another aggregate, or
    /// outside a `DictionaryFetchRequest`.
    case misplacedAggregate
    /// The sum or average of values that are not numbers.
    case notSummable(QueryExpression.Aggregate)
    /// A property whose values differ among the objects of a group: neither a grouping expression nor an aggregate
    /// contains it.
    case notGrouped(String)
    /// A condition on groups without groups.
    case havingWithoutGroups
    /// A sort of distinct rows by a value that is not one of their columns.
    case sortedByUnfetchedValue
    /// Two columns have the same name.
    case duplicateColumn(String)
}

extension QueryError: CustomStringConvertible {
    /// The error and its remedy.
    public var description: String {
        switch self {
        case .arithmeticOverflow: "a number became too large, or was divided by zero"
        case .conflictingTypes: "a calculation with a value that has one of several types"
        case .unboundParameter: "a parameter has no value"
        case .malformedPattern: "a regular expression has a syntax error"
        case .expensivePattern: "a regular expression takes too many steps for a text, or the text is too long for it"
        case .misplacedAggregate:
            "an aggregate can only stand among the properties, the having predicate and the sort of a dictionary fetch"
        case .notSummable(let aggregate): "the \(aggregate.rawValue) of values that are not numbers"
        case .notGrouped(let name):
            "'\(name)' differs among the objects of a group: group by it, or put it into an aggregate"
        case .havingWithoutGroups: "a having predicate needs properties to group by, or an aggregate"
        case .sortedByUnfetchedValue: "distinct results can only be sorted by a fetched column"
        case .duplicateColumn(let name): "two columns are named '\(name)'"
        }
    }
}
