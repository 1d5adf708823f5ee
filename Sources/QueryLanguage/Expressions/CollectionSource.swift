/// The members of a collection that a query looks at.
public enum CollectionSource: Hashable, Sendable {
    /// The members of the to-many relationship at the end of a path; all steps but the last are to-one relationships.
    case members(from: Int, [Property])
    /// The elements of a composite value that is a list of values of a type, or the values of one that is a dictionary with
    /// texts or integers as keys.
    indirect case elements(of: QueryExpression, type: AttributeType)

    /// A member, as a variable stands for it.
    public func member(_ variable: Int) -> QueryExpression {
        switch self {
        case .members: .variable(variable)
        case .elements(_, let type): .element(variable, type)
        }
    }

    /// The value without which there is no collection: the object that has the members, or the composite value. Nil if there
    /// always is one.
    package var owner: QueryExpression? {
        switch self {
        case .members(let start, let path): path.count == 1 ? nil : .path(from: start, path.dropLast())
        case .elements(let whole, _): whole
        }
    }
}

/// A step into a composite value.
public enum ComponentKey: Hashable, Sendable {
    /// The value of a property, or of a dictionary.
    case name(String)
    /// The element of a list, the first of which has the index 0; a negative index counts from the end of it.
    case index(Int)
}
