extension QueryExpression {
    /// The expression in the syntax of `NSPredicate`'s format strings, with `%@` in the place of constants.
    ///
    /// It can go to a log: constants may be secrets, and the names of properties are none.
    public var predicateFormat: String {
        var writer = PredicateFormatWriter(entity: nil, showsValues: false)
        return writer.condition(self)
    }

    /// The expression in the syntax of `NSPredicate`'s format strings, with its constants.
    ///
    /// Reading the text gives the expression again, where it is one that text or a predicate was read into.
    ///
    /// - Parameter entity: The entity of the objects that the expression is computed from.
    public func predicateFormat(showingValuesFor entity: Entity) -> String {
        var writer = PredicateFormatWriter(entity: entity, showsValues: true)
        return writer.condition(self)
    }

    // MARK: What the text form has words for

    /// The order comparison of unsigned integers of 64 bits that this is the form of; nil for other expressions.
    var unsignedComparison: QueryExpression? {
        let inner: QueryExpression?
        switch self {
        case .and(let parts) where parts.count == 2: inner = parts[1]
        case .or(let parts) where parts.count == 2:
            if case .and(let last) = parts[1], last.count == 2 { inner = last[1] } else { inner = parts[1] }
        default: inner = nil
        }
        guard case .comparison(let operation, let left, let right)? = inner,
            left.resultType == .uint64 || right.resultType == .uint64,
            self == .comparingUnsigned(operation, left, right)
        else { return nil }
        return inner
    }

    /// Two texts without the function that leaves case or diacritics out of both, and the options for it.
    static func unfolded(
        _ left: QueryExpression,
        _ right: QueryExpression
    ) -> (QueryExpression, QueryExpression, options: String) {
        guard case .function(let function, let first) = left, case .function(function, let second) = right,
            first.count == 1, second.count == 1, let options = foldingOptions[function]
        else { return (left, right, "") }
        return (first[0], second[0], "[\(options)]")
    }

    private static let foldingOptions: [Function: String] = [
        .foldCase: "c", .foldDiacritics: "d", .foldCaseAndDiacritics: "cd",
    ]

    /// Whether this is a comparison with the object of a variable, or a value of it, on the left and nowhere else.
    func comparesOnly(_ variable: Int) -> Bool {
        let sides: (left: QueryExpression, right: QueryExpression?)
        switch self {
        case .comparison(_, let left, let right): sides = (left, right)
        case .isMember(let element, _): sides = (element, nil)
        case .function(.contains, let texts), .function(.startsWith, let texts), .function(.endsWith, let texts),
            .function(.like, let texts), .function(.matches, let texts), .function(.localizedContains, let texts):
            guard texts.count == 2 else { return false }
            sides = (texts[0], texts[1])
        default: return false
        }
        let (left, right, _) = QueryExpression.unfolded(sides.left, sides.right ?? sides.left)
        switch left {
        case .variable(variable), .element(variable, _), .path(from: variable, _):
            return sides.right == nil || right.isIndependent(of: variable)
        default: return false
        }
    }

    /// Whether a variable is not mentioned, and no further one is bound.
    private func isIndependent(of variable: Int) -> Bool {
        switch self {
        case .variable(let number), .element(let number, _), .path(from: let number, _),
            .isKind(from: let number, _, _):
            number < variable
        case .quantified, .aggregated: false
        default: operands.allSatisfy { $0.isIndependent(of: variable) }
        }
    }

    /// Whether members exist, which is what a comparison of their count with 0 or 1 asks for: a store looks for one of
    /// them instead of counting all. Nil for other comparisons, and where there may be no owner of any members: then the
    /// count is null, which is not 0.
    func existence(_ comparison: Comparison, _ other: QueryExpression) -> QueryExpression? {
        guard case .aggregated(.count, let source, let variable, let value, let condition) = self,
            value == source.member(variable), case .literal(.integer(let number)) = other
        else { return nil }
        let hasOwner = if case .members(_, let path) = source { path.count == 1 } else { false }
        let exists = QueryExpression.quantified(.any, source, variable: variable, condition: condition)
        switch (comparison, number, hasOwner) {
        case (.greater, 0, _), (.greaterOrEqual, 1, _), (.notEqual, 0, true): return exists
        case (.equal, 0, true), (.less, 1, true), (.lessOrEqual, 0, true):
            guard case .not(let condition) = condition else { return .not(exists) }
            return .quantified(.all, source, variable: variable, condition: condition)
        default: return nil
        }
    }
}
