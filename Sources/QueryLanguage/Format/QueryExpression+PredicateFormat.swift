extension QueryExpression {
    /// The expression in the syntax of `NSPredicate`'s format strings, with `%@` instead of constants.
    ///
    /// It can be logged: it contains names of properties, but no constants, which can be secrets.
    public var predicateFormat: String {
        var writer = PredicateFormatWriter(entity: nil, showsValues: false)
        return writer.condition(self)
    }

    /// The expression in the syntax of `NSPredicate`'s format strings, with its constants.
    ///
    /// For an expression that was read from text or from `#Predicate`, reading the text gives an equal expression.
    ///
    /// - Parameter entity: The entity of the objects that the expression is computed from.
    public func predicateFormat(showingValuesFor entity: Entity) -> String {
        var writer = PredicateFormatWriter(entity: entity, showsValues: true)
        return writer.condition(self)
    }

    // MARK: Text forms

    /// Returns two texts without the function that folds both, and the options of that function.
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

    /// Returns whether the expression is a comparison with a variable's object, or its value, on the left side only.
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

    /// Returns whether the expression does not contain the variable and binds no variable.
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
