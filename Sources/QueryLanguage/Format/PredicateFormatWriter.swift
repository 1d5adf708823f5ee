/// The writer of expressions in the text form that ``FormatParser`` parses.
///
/// For an expression that was read from text or from `#Predicate`, reading the written text gives an equal expression.
/// The only exception are counts of the elements of a composite value, whose type the text form does not contain.
struct PredicateFormatWriter {
    /// The variables in scope, in the order of their numbers.
    var variables: [Variable]
    /// Whether constants are written; otherwise `%@` is written in their place.
    let showsValues: Bool

    /// The name of a variable, and the entity of its object if known.
    struct Variable {
        let name: String
        let entity: Entity?
        /// Whether the name represents the whole collection, after ANY or ALL.
        var standsForAll = false
    }

    init(entity: Entity?, showsValues: Bool) {
        variables = [Variable(name: "SELF", entity: entity)]
        self.showsValues = showsValues
    }

    /// Returns the text of an operand, in parentheses if its precedence is below `precedence`.
    mutating func text(
        _ expression: QueryExpression,
        _ precedence: FormatParser.Precedence = .or,
        as type: FormatType = .unknown
    ) -> String {
        let (text, own) = operation(expression, as: type)
        return own < precedence ? "(\(text))" : text
    }

    /// Returns the text of an expression and the precedence of its outermost operator.
    private mutating func operation(
        _ expression: QueryExpression,
        as type: FormatType
    ) -> (text: String, FormatParser.Precedence) {
        if let unsigned = expression.unsignedComparison { return (comparison(unsigned), .comparison) }
        switch expression {
        case .literal(let value): return literal(value, as: type)
        case .parameter(let number, _): return ("$\(number)", .primary)
        case .variable, .element, .path, .component: return (path(expression), .primary)
        case .and(let parts): return list(parts, " AND ", .and, .not, none: "TRUEPREDICATE")
        case .or(let parts): return list(parts, " OR ", .or, .and, none: "FALSEPREDICATE")
        case .not(let part): return ("NOT \(condition(part, .not))", .not)
        case .comparison: return (comparison(expression), .comparison)
        case .isMember(let element, let values):
            let list = membershipList(values, as: self.type(of: element))
            return ("\(text(element, .sum)) IN \(list)", .comparison)
        case .arithmetic(let operation, let left, let right): return arithmetic(operation, left, right, as: type)
        case .conditional(let test, let first, let second):
            let type = commonType([first, second], as: type)
            return ("TERNARY(\(condition(test)), \(text(first, as: type)), \(text(second, as: type)))", .primary)
        case .coalesce(let parts):
            if let sum = sumOrZero(parts) { return (sum, .primary) }
            return (call("coalesce", parts), .primary)
        case .function(let function, let arguments): return self.function(function, arguments)
        case .quantified(let quantifier, let source, let variable, let condition):
            return quantified(quantifier, source, variable, condition)
        case .aggregated(let aggregate, let source, let variable, let value, let condition):
            return (aggregated(aggregate, source, variable, value, condition), .primary)
        case .isKind(let start, let path, let entity):
            let object = self.path(path.isEmpty ? .variable(start) : .path(from: start, path))
            return ("FUNCTION(\(object), 'isKindOfEntity:', \(Self.quoted(entity.name)))", .primary)
        case .aggregate(let aggregate, let argument):
            return ("\(aggregate.collectionOperator):(\(text(argument)))", .primary)
        }
    }

    private mutating func list(
        _ parts: [QueryExpression],
        _ separator: String,
        _ precedence: FormatParser.Precedence,
        _ inner: FormatParser.Precedence,
        none: String
    ) -> (String, FormatParser.Precedence) {
        if parts.isEmpty { return (none, .primary) }
        if parts.count == 1 { return (condition(parts[0], .not), .not) }
        return (parts.map { condition($0, inner) }.joined(separator: separator), precedence)
    }

    /// Returns the text of an operand that is a condition.
    mutating func condition(_ expression: QueryExpression, _ precedence: FormatParser.Precedence = .or) -> String {
        switch expression {
        case .literal(.integer(0)): "FALSEPREDICATE"
        case .literal(.integer(1)): "TRUEPREDICATE"
        default: text(expression, precedence)
        }
    }

    // MARK: Calculations

    private mutating func arithmetic(
        _ operation: QueryExpression.Arithmetic,
        _ left: QueryExpression,
        _ right: QueryExpression,
        as type: FormatType
    ) -> (String, FormatParser.Precedence) {
        var types = (left: commonType([left, right]), right: commonType([left, right]))
        if types.left == .attribute(.date) {
            // The other operand beside a date is a number of seconds.
            types = (.attribute(.double), .attribute(.double))
        } else if type == .attribute(.date) {
            types.left = type
        }
        let left = (of: left, as: types.left)
        let right = (of: right, as: types.right)
        switch operation {
        case .add: return ("\(text(left.of, .sum, as: left.as)) + \(text(right.of, .product, as: right.as))", .sum)
        case .subtract:
            return ("\(text(left.of, .sum, as: left.as)) - \(text(right.of, .product, as: right.as))", .sum)
        case .multiply:
            return ("\(text(left.of, .product, as: left.as)) * \(text(right.of, .sign, as: right.as))", .product)
        case .divide:
            return ("\(text(left.of, .product, as: left.as)) / \(text(right.of, .sign, as: right.as))", .product)
        case .remainder:
            return ("modulus:by:(\(text(left.of, as: left.as)), \(text(right.of, as: right.as)))", .primary)
        }
    }

    /// Returns the text of a value that consists of constants of a type.
    private mutating func cast(_ value: QueryExpression, to type: AttributeType) -> String {
        "CAST(\(text(value, as: .attribute(type))), '\(type.rawValue)')"
    }

    private mutating func call(_ name: String, _ arguments: [QueryExpression]) -> String {
        let type = commonType(arguments)
        return "\(name)(\(arguments.map { text($0, as: type) }.joined(separator: ", ")))"
    }

    private mutating func function(
        _ function: QueryExpression.Function,
        _ arguments: [QueryExpression]
    ) -> (String, FormatParser.Precedence) {
        switch (function.notation, arguments.count) {
        case (.infix(let name), 2):
            // A regular expression is not folded.
            let (left, right, options) =
                function == .matches
                ? (arguments[0], arguments[1], "") : QueryExpression.unfolded(arguments[0], arguments[1])
            let suffix = function == .localizedContains ? "[l]" : options
            let type = FormatType.attribute(.string)
            return ("\(text(left, .sum, as: type)) \(name)\(suffix) \(text(right, .sum, as: type))", .comparison)
        case (.sign, 1): return ("-\(text(arguments[0], .power))", .sign)
        case (.power, 2): return ("\(text(arguments[0], .primary)) ** \(text(arguments[1], .power))", .power)
        case (.selector(let name), 2):
            let texts = arguments.map { text($0, as: .attribute(.string)) }
            return ("FUNCTION(\(texts[0]), '\(name)', \(texts[1]))", .primary)
        case (.cast(let type), 1): return (cast(arguments[0], to: type), .primary)
        case (.call(let name, _), _), (.extreme(let name), _), (.description(let name), _):
            return (call(name, arguments), .primary)
        case (.infix, _), (.sign, _), (.power, _), (.selector, _), (.cast, _):
            return (call(function.rawValue, arguments), .primary)
        }
    }

    // MARK: Comparisons

    private mutating func comparison(_ expression: QueryExpression) -> String {
        guard case .comparison(let operation, let left, let right) = expression else { return text(expression) }
        if case .function(.localizedCompare, let texts) = left, texts.count == 2, right == .literal(.integer(0)) {
            let sides = texts.map { text($0, .sum, as: .attribute(.string)) }
            return "\(sides[0]) \(Self.symbol(of: operation))[l] \(sides[1])"
        }
        let (first, second, options) = QueryExpression.unfolded(left, right)
        let type = commonType([first, second])
        let symbol = "\(Self.symbol(of: operation))\(options)"
        return "\(text(first, .sum, as: type)) \(symbol) \(text(second, .sum, as: type))"
    }

    private static func symbol(of comparison: QueryExpression.Comparison) -> String {
        switch comparison {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }

    // MARK: Types

    /// Returns the type of an expression, which determines the text of constants beside it.
    func type(of expression: QueryExpression) -> FormatType {
        switch expression {
        case .variable(let variable):
            guard variables.indices.contains(variable) else { return .unknown }
            return variables[variable].entity.map { .object($0) } ?? .unknown
        case .path(_, let path):
            if case .relationship(let relationship)? = path.last { return .object(relationship.destination) }
            return FormatType(of: expression)
        case .literal(.null), .literal(.integer): return .unknown
        case .arithmetic(let operation, let left, let right):
            let types = [type(of: left), type(of: right)]
            guard types.contains(.attribute(.date)) else { return FormatType(of: expression) }
            return operation == .subtract && types[0] == types[1] ? .attribute(.double) : .attribute(.date)
        case .conditional(_, let first, let second): return commonType([first, second])
        case .coalesce(let parts): return commonType(parts)
        default: return FormatType(of: expression)
        }
    }

    /// Returns the type of the constants among some expressions, which together have a type in their context.
    private func commonType(_ expressions: [QueryExpression], as context: FormatType) -> FormatType {
        let type = commonType(expressions)
        return switch (type, context) {
        case (.unknown, .attribute(.uint64)), (.attribute(.data), .attribute(.decimal)): context
        default: type
        }
    }

    /// Returns the type of the constants among some expressions.
    func commonType(_ expressions: [QueryExpression]) -> FormatType {
        var literalType = FormatType.unknown
        for expression in expressions {
            let type = type(of: expression)
            if case .literal = expression {
                if literalType == .unknown { literalType = type }
            } else if type != .unknown {
                return type
            }
        }
        return literalType
    }
}
