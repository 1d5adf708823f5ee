/// The members of one or several to-many relationships, one behind the other, or a value of each.
struct FormatCollection {
    /// The variable that the first path starts from.
    let start: Int
    /// The number of the variable that stands for a member of the first relationship; those of the others follow.
    let variable: Int
    /// The collections, each but the first one of a member of the one before.
    var levels: [Level]
    /// The path from a last member to its value; empty for the member itself.
    var path: [Property] = []
    /// What a member is, or its value.
    var type: FormatType
    /// The condition on members of the first relationship, which is the variable ``variable`` in it.
    var condition: QueryExpression?

    enum Level {
        /// The members of the to-many relationship at the end of the path.
        case members([Property])
        /// The elements of the composite value.
        case elements(QueryExpression)
    }

    /// The value of a last member. The type of an element is told by what it is compared with.
    var value: QueryExpression {
        let last = variable + levels.count - 1
        if case .elements? = levels.last { return .element(last, .composite) }
        return path.isEmpty ? .variable(last) : .path(from: last, path)
    }

    /// The collections with the variables that stand for their members, the first one outermost.
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

    /// Whether a condition on the value of a last member holds for one, or for all.
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

    /// An aggregate of the values of the last members. That over several relationships is put together from those over
    /// each, which gives the same for all but averages and counts of different values.
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
        return result
    }
}

extension QueryExpression {
    /// The type in which an element is looked at; nil where it is not.
    func type(ofElement variable: Int) -> AttributeType? {
        if case .element(variable, let type) = self { return type }
        for operand in operands {
            if let type = operand.type(ofElement: variable) { return type }
        }
        return nil
    }

    /// The expression, where it is a part of a composite value whose type nothing told yet, as a part of a type.
    func part(as type: AttributeType) -> QueryExpression {
        switch self {
        case .element(let variable, .composite): .element(variable, type)
        case .component(let keys, let whole, .composite): .component(keys, of: whole, type: type)
        default: self
        }
    }
}
