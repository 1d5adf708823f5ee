/// The members of a path of one or more collections, or a value of each member.
struct FormatCollection {
    /// The variable that the first path starts from.
    let start: Int
    /// The number of the variable of the members of the first collection; the next collections have the next numbers.
    let variable: Int
    /// The collections, each of a member of the previous one.
    var levels: [Level]
    /// The path from a last member to its value; empty for the member itself.
    var path: [Property] = []
    /// The type of a member, or of its value.
    var type: FormatType
    /// The condition on the members of the first collection, as ``variable``.
    var condition: QueryExpression?

    enum Level {
        /// The members of the to-many relationship at the end of the path.
        case members([Property])
        /// The elements of the composite value.
        case elements(QueryExpression)
    }

    /// The value of a last member. The other side of a comparison determines the type of an element.
    var value: QueryExpression {
        let last = variable + levels.count - 1
        if case .elements? = levels.last { return .element(last, .composite) }
        return path.isEmpty ? .variable(last) : .path(from: last, path)
    }

    /// Returns the collections with the variables of their members, the outermost first.
    ///
    /// - Parameter elementType: The type of the elements of a composite value.
    func sources(_ elementType: AttributeType) -> [(source: CollectionSource, variable: Int)] {
        levels.enumerated().map { position, level in
            let owner = position == 0 ? start : variable + position - 1
            return switch level {
            case .members(let path): (.members(from: owner, path), variable + position)
            case .elements(let whole): (.elements(of: whole, type: elementType), variable + position)
            }
        }
    }

    /// Returns whether a condition on the value of a last member holds for any member, or for all.
    func quantified(_ quantifier: QueryExpression.Quantifier, _ condition: QueryExpression) -> QueryExpression {
        var result = condition
        if let filter = self.condition {
            result = quantifier == .any ? .conjunction([filter, result]) : .disjunction([.negation(filter), result])
        }
        let elementType = result.type(ofElement: variable + levels.count - 1) ?? .composite
        for (source, variable) in sources(elementType).reversed() {
            result = .quantifying(quantifier, source, variable: variable, condition: result)
        }
        return result
    }

    /// Returns an aggregate of the values of the last members. An aggregate over several collections is composed of
    /// aggregates over each collection, which is equal except for averages and counts of different values.
    ///
    /// A count over several collections is 0 if there is nothing to count, even if the owner of the first collection is
    /// missing.
    func aggregated(
        _ aggregate: QueryExpression.Aggregate,
        elementType: AttributeType = .composite
    ) -> QueryExpression {
        let elementType = condition?.type(ofElement: variable) ?? elementType
        let last = variable + levels.count - 1
        var result = value
        for (source, variable) in sources(elementType).reversed() {
            if variable == last, aggregate == .count || result == .element(variable, .composite) {
                result = source.member(variable)
            }
            result = .aggregated(
                aggregate == .count && variable != last ? .sum : aggregate,
                source,
                variable: variable,
                value: result,
                condition: variable == self.variable ? condition ?? .bool(true) : .bool(true)
            )
        }
        return aggregate == .count && levels.count > 1 ? .coalescing(result, .literal(.integer(0))) : result
    }
}

extension QueryExpression {
    /// Returns the type as which the expression reads an element; nil if it does not read it.
    func type(ofElement variable: Int) -> AttributeType? {
        if case .element(variable, let type) = self { return type }
        for operand in operands {
            if let type = operand.type(ofElement: variable) { return type }
        }
        return nil
    }

    /// Returns a part of a composite value of yet unknown type as a part of a type; other expressions are unchanged.
    func part(as type: AttributeType) -> QueryExpression {
        switch self {
        case .element(let variable, .composite): .element(variable, type)
        case .component(let keys, let whole, .composite): .component(keys, of: whole, type: type)
        default: self
        }
    }
}
