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
}
