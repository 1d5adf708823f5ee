/// A collection that a query evaluates over its members.
public enum CollectionSource: Hashable, Sendable {
    /// The members of the to-many relationship at the end of a path; all steps but the last are to-one relationships.
    case members(from: Int, [Property])
    /// The elements of a composite value: the elements of a list of values of a type, or the values of a dictionary
    /// whose keys are texts or integers.
    indirect case elements(of: QueryExpression, type: AttributeType)

    /// Returns the expression of the member that a variable is bound to.
    public func member(_ variable: Int) -> QueryExpression {
        switch self {
        case .members: .variable(variable)
        case .elements(_, let type): .element(variable, type)
        }
    }

    /// The value that the collection belongs to, which can be null: the object that has the members, or the composite
    /// value. Nil for members of the object that a variable is bound to, which always exists.
    package var owner: QueryExpression? {
        switch self {
        case .members(let start, let path): path.count == 1 ? nil : .path(from: start, path.dropLast())
        case .elements(let whole, _): whole
        }
    }
}
