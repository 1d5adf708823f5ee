/// Why a condition or value cannot be computed.
public enum QueryError: Error, Hashable, Sendable {
    /// An integer became too large or was divided by zero, or a sum of decimals has more digits than a `Decimal` can hold.
    case arithmeticOverflow
    /// A parameter stands where nobody gives its value.
    case unboundParameter
    /// A regular expression cannot be understood.
    case malformedPattern
    /// A regular expression takes more steps for a text than are allowed, so that it is unknown whether it matches.
    case expensivePattern
    /// An aggregate stands where there is no group to compute it from: in a predicate, in what results are grouped by,
    /// in another aggregate, or outside a ``DictionaryFetchRequest``.
    case misplacedAggregate
    /// The sum or average of values that are no numbers.
    case notSummable(QueryExpression.Aggregate)
    /// A value that differs among the objects of a group: it is neither one that the results are grouped by nor inside
    /// an aggregate. The name is that of the property.
    case notGrouped(String)
    /// There is a condition on groups, but no group.
    case havingWithoutGroups
    /// Different rows are sorted by a value that is not one of their columns.
    case sortedByUnfetchedValue
    /// Two columns have the same name.
    case duplicateColumn(String)
}

extension QueryError: CustomStringConvertible {
    /// What is wrong and what can be done.
    public var description: String {
        switch self {
        case .arithmeticOverflow: "a number became too large, or was divided by zero"
        case .unboundParameter: "a parameter has no value"
        case .malformedPattern: "a regular expression cannot be understood"
        case .expensivePattern: "a regular expression takes too many steps for a text, or the text is too long for it"
        case .misplacedAggregate:
            "an aggregate can only stand among the properties, the having predicate and the sort of a dictionary fetch"
        case .notSummable(let aggregate): "the \(aggregate.rawValue) of values that are no numbers"
        case .notGrouped(let name):
            "'\(name)' differs among the objects of a group: group by it, or put it into an aggregate"
        case .havingWithoutGroups: "a having predicate needs properties to group by, or an aggregate"
        case .sortedByUnfetchedValue: "distinct results can only be sorted by what is fetched"
        case .duplicateColumn(let name): "two columns are named '\(name)'"
        }
    }
}
