import Foundation

extension FormatReader {
    /// Reads a comparison.
    mutating func comparison(
        _ comparison: FormatOperator,
        _ left: FormatSyntax,
        _ right: FormatSyntax
    ) throws(PredicateFormatError) -> QueryExpression {
        switch comparison.kind {
        case .membership:
            let collection = try members(of: right)
            if case .collection(let members) = collection { return try contains(members, right, left, comparison) }
            return try self.comparison(comparison, try operand(left), left, collection, right)
        case .contains:
            let collection = try members(of: left)
            if case .collection(let members) = collection { return try contains(members, left, right, comparison) }
            return try self.comparison(comparison, collection, left, try operand(right), right)
        default: return try self.comparison(comparison, try operand(left), left, try operand(right), right)
        }
    }

    /// Reads whether a collection contains an element.
    private mutating func contains(
        _ members: FormatCollection,
        _ collection: FormatSyntax,
        _ element: FormatSyntax,
        _ comparison: FormatOperator
    ) throws(PredicateFormatError) -> QueryExpression {
        // The element is inside the quantifiers, each of which binds a variable.
        depth += members.levels.count
        defer { depth -= members.levels.count }
        let member = FormatOperand.value(members.value, members.type)
        let condition = try compare(
            .equal,
            FormatSide(member, collection),
            FormatSide(try operand(element), element),
            comparison
        )
        return members.quantified(.any, condition)
    }

    /// Returns a comparison of two operands.
    private func comparison(
        _ comparison: FormatOperator,
        _ left: FormatOperand,
        _ leftSyntax: FormatSyntax,
        _ right: FormatOperand,
        _ rightSyntax: FormatSyntax
    ) throws(PredicateFormatError) -> QueryExpression {
        let (left, right) = (FormatSide(left, leftSyntax), FormatSide(right, rightSyntax))
        switch comparison.kind {
        case .equal: return try compare(.equal, left, right, comparison)
        case .notEqual: return try compare(.notEqual, left, right, comparison)
        case .less: return try compare(.less, left, right, comparison)
        case .lessOrEqual: return try compare(.lessOrEqual, left, right, comparison)
        case .greater: return try compare(.greater, left, right, comparison)
        case .greaterOrEqual: return try compare(.greaterOrEqual, left, right, comparison)
        case .between: return try range(left, right, comparison)
        case .membership: return try membership(of: left, in: right, comparison)
        case .contains: return try containment(left, right, comparison)
        case .beginsWith: return try test(.startsWith, left, right, comparison)
        case .endsWith: return try test(.endsWith, left, right, comparison)
        case .like: return try test(.like, left, right, comparison)
        case .matches: return try match(left, right, comparison)
        }
    }

    // MARK: Equality and order

    private func compare(
        _ operation: QueryExpression.Comparison,
        _ left: FormatSide,
        _ right: FormatSide,
        _ comparison: FormatOperator
    ) throws(PredicateFormatError) -> QueryExpression {
        let pair = try pair(left, right)
        let isEquality = operation == .equal || operation == .notEqual
        if pair.type == .attribute(.composite), pair.left != .literal(.null), pair.right != .literal(.null) {
            let message = "a composite value is compared with nil, or part by part"
            throw error(.mismatchedTypes, message, at: comparison.range)
        }
        if !isEquality, !pair.type.isOrdered {
            let message = "\(pair.type.kindDescription) has no order, which '\(comparison.kind.rawValue)' asks for"
            throw error(.mismatchedTypes, message, at: comparison.range)
        }
        if !isEquality, pair.type == .attribute(.uint64) {
            return .comparingUnsigned(operation, pair.left, pair.right)
        }
        let isNilTest = pair.left == .literal(.null) || pair.right == .literal(.null)
        if comparison.options.contains(.localeSensitive), pair.type.isText, !isNilTest {
            let order = QueryExpression.function(.localizedCompare, [pair.left, pair.right])
            return .comparing(operation, order, .literal(.integer(0)))
        }
        let (first, second) = try folded(pair, comparison)
        return .comparing(operation, first, second)
    }

    /// Returns whether a value is between two bounds, inclusive.
    private func range(
        _ value: FormatSide,
        _ bounds: FormatSide,
        _ comparison: FormatOperator
    ) throws(PredicateFormatError) -> QueryExpression {
        var lower: FormatSide?
        var upper: FormatSide?
        var includesUpper = true
        switch bounds.operand {
        case .constant(.range(let first, let last, let isClosed)):
            lower = first.map { FormatSide(.constant($0), bounds.syntax) }
            upper = last.map { FormatSide(.constant($0), bounds.syntax) }
            includesUpper = isClosed
        case .constant(.list(let values)) where values.count == 2:
            let syntax =
                if case .list(let nodes) = bounds.syntax.kind { nodes } else { [bounds.syntax, bounds.syntax] }
            lower = FormatSide(.constant(values[0]), syntax[0])
            upper = FormatSide(.constant(values[1]), syntax[1])
        case .list(let values) where values.count == 2:
            (lower, upper) = (values[0], values[1])
        default:
            let message = "BETWEEN needs a list of two bounds, such as {1, 10}, or a range"
            throw error(.mismatchedTypes, message, at: bounds.syntax.range)
        }
        var conditions: [QueryExpression] = []
        if let lower { conditions.append(try compare(.greaterOrEqual, value, lower, comparison)) }
        if let upper {
            conditions.append(try compare(includesUpper ? .lessOrEqual : .less, value, upper, comparison))
        }
        return .conjunction(conditions)
    }

    // MARK: Collections

    private func membership(
        of element: FormatSide,
        in collection: FormatSide,
        _ comparison: FormatOperator
    ) throws(PredicateFormatError) -> QueryExpression {
        switch collection.operand {
        case .constant(.list(let values)): return try membership(of: element, in: values, collection, comparison)
        case .constant(.range): return try range(element, collection, comparison)
        case .list(let elements):
            var conditions: [QueryExpression] = []
            for other in elements { conditions.append(try compare(.equal, element, other, comparison)) }
            return .disjunction(conditions)
        case .collection(let members):
            let member = FormatOperand.value(members.value, members.type)
            let condition = try compare(.equal, FormatSide(member, collection.syntax), element, comparison)
            return members.quantified(.any, condition)
        case .value, .constant: return try test(.contains, collection, element, comparison)
        }
    }

    private func membership(
        of element: FormatSide,
        in values: [PredicateArgument],
        _ collection: FormatSide,
        _ comparison: FormatOperator
    ) throws(PredicateFormatError) -> QueryExpression {
        var (value, type) = try self.value(of: element)
        if let first = values.lazy.compactMap(\.naturalType).first, type == .unknown {
            value = value.part(as: first == .int64 ? .double : first)
        }
        var literals: [Value] = []
        for constant in values {
            guard case .literal(let literal) = try literal(constant, as: type, for: element, at: collection) else {
                continue
            }
            literals.append(literal)
        }
        if comparison.options.isEmpty { return .isMember(value, of: literals) }
        guard type.isText else { throw textNeeded(element, type, comparison) }
        for position in literals.indices {
            // Folding does not fail for texts.
            let folded = try fold(.literal(literals[position]), comparison)
            literals[position] = (try? folded.constantValue) ?? literals[position]
        }
        return .isMember(try fold(value, comparison), of: literals)
    }

    private func containment(
        _ collection: FormatSide,
        _ element: FormatSide,
        _ comparison: FormatOperator
    ) throws(PredicateFormatError) -> QueryExpression {
        switch collection.operand {
        case .collection, .list, .constant(.list), .constant(.range):
            return try membership(of: element, in: collection, comparison)
        case .value, .constant: return try test(.contains, collection, element, comparison)
        }
    }

    /// Reads ANY, ALL or NONE before a comparison.
    mutating func quantified(
        _ quantifier: FormatQuantifier,
        _ syntax: FormatSyntax
    ) throws(PredicateFormatError) -> QueryExpression {
        guard case .comparison(let comparison, let left, let right) = syntax.kind else { return try condition(syntax) }
        let isAll = quantifier == .all
        let result: QueryExpression
        switch try members(of: left) {
        case .collection(let collection):
            // The other side is inside the quantifiers, each of which binds a variable.
            depth += collection.levels.count
            defer { depth -= collection.levels.count }
            let other = comparison.kind == .membership ? try members(of: right) : try operand(right)
            let member = FormatOperand.value(collection.value, collection.type)
            let condition = try self.comparison(comparison, member, left, other, right)
            result = collection.quantified(isAll ? .all : .any, condition)
        case .constant(.list(let values)):
            let other = try operand(right)
            var conditions: [QueryExpression] = []
            for value in values {
                conditions.append(try self.comparison(comparison, .constant(value), left, other, right))
            }
            result = isAll ? .conjunction(conditions) : .disjunction(conditions)
        default:
            let message =
                "\(quantifier.rawValue) needs a to-many relationship or a list, which \(text(of: left)) is not"
            throw error(.mismatchedTypes, message, at: left.range)
        }
        return quantifier == .none ? .negation(result) : result
    }

    /// Reads a node, as a collection if possible.
    mutating func members(of syntax: FormatSyntax) throws(PredicateFormatError) -> FormatOperand {
        let operand = try operand(syntax)
        if case .value(let value, let type) = operand, let elements = elements(of: value, type) {
            return .collection(elements)
        }
        return operand
    }

    /// Reads SUBQUERY: the members of a relationship for which a condition holds.
    mutating func subquery(
        _ collection: FormatSyntax,
        _ variable: String,
        _ condition: FormatSyntax
    ) throws(PredicateFormatError) -> FormatCollection {
        guard case .collection(var members) = try members(of: collection) else {
            let message = "SUBQUERY needs a to-many relationship, which \(text(of: collection)) is not"
            throw error(.mismatchedTypes, message, at: collection.range)
        }
        guard members.levels.count == 1, members.path.isEmpty, members.condition == nil else {
            let message = "SUBQUERY goes over the members of one to-many relationship; put one into another for more"
            throw error(.unsupported, message, at: collection.range)
        }
        scope.append((variable, members))
        depth += 1
        defer {
            scope.removeLast()
            depth -= 1
        }
        members.condition = try self.condition(condition)
        return members
    }

    // MARK: Text

    /// Returns a function of two texts, folded by the options.
    private func test(
        _ function: QueryExpression.Function,
        _ left: FormatSide,
        _ right: FormatSide,
        _ comparison: FormatOperator
    ) throws(PredicateFormatError) -> QueryExpression {
        let text = try self.text(left, comparison)
        let other = try self.text(right, comparison)
        if comparison.options.contains(.localeSensitive) {
            guard function == .contains else { throw noLocale(comparison) }
            return .function(.localizedContains, [text, other])
        }
        return .function(function, [try fold(text, comparison), try fold(other, comparison)])
    }

    /// Returns a match with a regular expression. Its case is not folded: an option of the expression ignores case.
    private func match(
        _ left: FormatSide,
        _ right: FormatSide,
        _ comparison: FormatOperator
    ) throws(PredicateFormatError) -> QueryExpression {
        if comparison.options.contains(.localeSensitive) { throw noLocale(comparison) }
        if comparison.options.isEmpty { return try test(.matches, left, right, comparison) }
        guard case .constant(.text(var pattern)) = right.operand else {
            throw error(.unsupported, "MATCHES takes options with constant patterns only", at: comparison.range)
        }
        var text = try self.text(left, comparison)
        if comparison.options.contains(.diacriticInsensitive) {
            text = .function(.foldDiacritics, [text])
            pattern = pattern.folding(options: .diacriticInsensitive, locale: nil)
        }
        if comparison.options.contains(.caseInsensitive) { pattern = "(?i)" + pattern }
        return .function(.matches, [text, .literal(.text(pattern))])
    }

    /// Returns an operand as a text.
    private func text(_ side: FormatSide, _ comparison: FormatOperator) throws(PredicateFormatError) -> QueryExpression
    {
        let (value, type) = try value(of: side, as: .string)
        guard type.isText else { throw textNeeded(side, type, comparison) }
        return value
    }

    private func textNeeded(_ side: FormatSide, _ type: FormatType, _ comparison: FormatOperator)
        -> PredicateFormatError
    {
        let message =
            "\(comparison.kind.rawValue) compares texts, and \(text(of: side.syntax)) is \(type.kindDescription)"
        return error(.mismatchedTypes, message, at: side.syntax.range)
    }

    private func noLocale(_ comparison: FormatOperator) -> PredicateFormatError {
        error(.unsupported, "the option l is one of CONTAINS and of comparisons such as <", at: comparison.range)
    }

    private func folded(
        _ pair: Pair,
        _ comparison: FormatOperator
    ) throws(PredicateFormatError) -> (QueryExpression, QueryExpression) {
        if comparison.options.isEmpty || pair.left == .literal(.null) || pair.right == .literal(.null) {
            return (pair.left, pair.right)
        }
        guard pair.type.isText else {
            let message = "options are for texts, and here \(pair.type.kindDescription) is compared"
            throw error(.mismatchedTypes, message, at: comparison.range)
        }
        if comparison.options.contains(.localeSensitive) { throw noLocale(comparison) }
        return (try fold(pair.left, comparison), try fold(pair.right, comparison))
    }

    /// Returns a text folded by the options.
    private func fold(
        _ text: QueryExpression,
        _ comparison: FormatOperator
    ) throws(PredicateFormatError) -> QueryExpression {
        if comparison.options.contains(.localeSensitive) { throw noLocale(comparison) }
        switch (
            comparison.options.contains(.caseInsensitive), comparison.options.contains(.diacriticInsensitive)
        ) {
        case (true, true): return .function(.foldCaseAndDiacritics, [text])
        case (true, false): return .function(.foldCase, [text])
        case (false, true): return .function(.foldDiacritics, [text])
        case (false, false): return text
        }
    }
}
