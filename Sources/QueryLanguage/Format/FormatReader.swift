/// The object to which a predicate in text form applies.
package struct FormatSubject: Sendable {
    let variable: Int
    let path: [Property]
    let entity: Entity
    let depth: Int

    /// Creates the subject of a fetch: the fetched object.
    package init(_ entity: Entity) { self.init(entity, variable: 0, path: [], depth: 1) }

    /// Creates the subject at the end of a path.
    ///
    /// - Parameters:
    ///   - entity: The static entity of the object.
    ///   - variable: The variable that the path starts from.
    ///   - path: To-one relationships; empty for the variable's object itself.
    ///   - depth: The number of the next bound variable.
    package init(_ entity: Entity, variable: Int, path: [Property], depth: Int) {
        self.variable = variable
        self.path = path
        self.entity = entity
        self.depth = depth
    }
}

/// Translates the syntax tree of a predicate's text form into an expression: resolves names, checks types, binds
/// arguments.
///
/// Constants become ``QueryExpression/literal(_:)``s, which stores bind as parameters: no argument can change the
/// meaning of a predicate.
struct FormatReader {
    let format: String
    /// The object to which the predicate applies.
    let subject: FormatSubject
    let arguments: [PredicateArgument]
    /// The values of the variables that no SUBQUERY binds.
    let variables: [String: PredicateArgument]
    /// The variables of the enclosing SUBQUERYs, the innermost last.
    var scope: [(name: String, collection: FormatCollection)] = []
    /// The number of the next variable.
    var depth: Int
    private var usedArguments: Set<Int> = []

    init(
        _ format: String,
        _ subject: FormatSubject,
        arguments: [PredicateArgument],
        variables: [String: PredicateArgument]
    ) {
        self.format = format
        self.subject = subject
        depth = subject.depth
        self.arguments = arguments
        self.variables = variables
    }

    /// Throws if an argument was not used.
    func checkArguments() throws(PredicateFormatError) {
        guard let unused = arguments.indices.first(where: { !usedArguments.contains($0) }) else { return }
        throw error(
            .argument,
            "argument \(unused + 1) of \(arguments.count) is not used",
            at: format.endIndex..<format.endIndex
        )
    }

    func error(
        _ kind: PredicateFormatError.Kind,
        _ message: String,
        suggestions: [String] = [],
        at range: Range<String.Index>
    ) -> PredicateFormatError {
        PredicateFormatError(kind, message, suggestions: suggestions, in: format, at: range)
    }

    /// Returns the name of a part of the text in errors: a part that can contain a value is named by its kind.
    func text(of syntax: FormatSyntax) -> String {
        switch syntax.kind {
        case .path(nil, _): "'\(format[syntax.range])'"
        case .constant: "the constant"
        case .argument(let placeholder): "argument \(placeholder.position + 1)"
        case .variable(let name): "'$\(name)'"
        case .call(let name, _): "the result of '\(name)'"
        case .list: "the list"
        case .negative, .arithmetic, .power: "the calculation"
        case .comparison, .and, .or, .not, .quantified: "the condition"
        case .path, .subquery, .cast, .conditional: "the expression"
        }
    }

    // MARK: Conditions

    /// Reads a node as a condition.
    mutating func condition(_ syntax: FormatSyntax) throws(PredicateFormatError) -> QueryExpression {
        switch syntax.kind {
        case .and(let parts): return .conjunction(try conditions(parts))
        case .or(let parts): return .disjunction(try conditions(parts))
        case .not(let part): return .negation(try condition(part))
        case .comparison(let comparison, let left, let right):
            return try self.comparison(comparison, left, right)
        case .quantified(let quantifier, let comparison): return try quantified(quantifier, comparison)
        default: break
        }
        switch try operand(syntax) {
        case .constant(.boolean(let value)): return .bool(value)
        case .constant(let constant):
            throw error(
                .mismatchedTypes,
                "a condition is needed here, not \(constant.kindDescription)",
                at: syntax.range
            )
        case .value(let condition, .attribute(.bool)): return condition.asCondition
        case .value(_, let type):
            let message = "a condition is needed here, but \(text(of: syntax)) is \(type.kindDescription)"
            throw error(.mismatchedTypes, message, at: syntax.range)
        case .collection, .list:
            throw error(.mismatchedTypes, "a condition is needed here, not a collection", at: syntax.range)
        }
    }

    private mutating func conditions(_ parts: [FormatSyntax]) throws(PredicateFormatError) -> [QueryExpression] {
        var conditions: [QueryExpression] = []
        for part in parts { conditions.append(try condition(part)) }
        return conditions
    }

    // MARK: Values

    /// Reads a node as a value, a constant or a collection.
    mutating func operand(_ syntax: FormatSyntax) throws(PredicateFormatError) -> FormatOperand {
        switch syntax.kind {
        case .constant(let constant): return .constant(constant)
        case .argument(let placeholder): return .constant(try argument(placeholder, at: syntax.range))
        case .variable(let name): return try variable(name, at: syntax.range)
        case .path(let base, let steps): return try path(base, steps, at: syntax)
        case .list(let elements): return try list(elements)
        case .negative(let operand): return try negative(operand)
        case .arithmetic(let operation, let left, let right):
            return try arithmetic(operation, left, right, at: syntax.range)
        case .power(let base, let exponent): return try power(base, exponent)
        case .and, .or, .not, .comparison, .quantified: return .value(try condition(syntax), .attribute(.bool))
        case .call(let name, let arguments): return try call(name, arguments, at: syntax)
        case .subquery(let collection, let variable, let condition):
            return .collection(try subquery(collection, variable, condition))
        case .cast(let value, let type): return try cast(value, to: type)
        case .conditional(let test, let first, let second): return try conditional(test, first, second)
        }
    }

    private mutating func list(_ elements: [FormatSyntax]) throws(PredicateFormatError) -> FormatOperand {
        var operands: [FormatSide] = []
        for element in elements { operands.append(FormatSide(try operand(element), element)) }
        let constants = operands.compactMap { if case .constant(let constant) = $0.operand { constant } else { nil } }
        return constants.count == operands.count ? .constant(.list(constants)) : .list(operands)
    }

    private mutating func conditional(
        _ test: FormatSyntax,
        _ first: FormatSyntax,
        _ second: FormatSyntax
    ) throws(PredicateFormatError) -> FormatOperand {
        let test = try condition(test)
        let (values, type) = try unified([first, second])
        if case .literal(let value) = test { return .value(values[value.isTrue ? 0 : 1], type) }
        return .value(.conditional(test, values[0], values[1]), type)
    }

    // MARK: Arguments and variables

    /// Returns the argument of a placeholder.
    private mutating func argument(
        _ placeholder: FormatPlaceholder,
        at range: Range<String.Index>
    ) throws(PredicateFormatError) -> PredicateArgument {
        guard arguments.indices.contains(placeholder.position) else {
            let count =
                arguments.count == 1 ? "only 1 is" : arguments.isEmpty ? "none is" : "only \(arguments.count) are"
            let message = "argument \(placeholder.position + 1) for \(placeholder.specifier) is missing: \(count) given"
            throw error(.argument, message, at: range)
        }
        usedArguments.insert(placeholder.position)
        let argument = arguments[placeholder.position]
        guard argument.fits(placeholder) else {
            let message = """
                argument \(placeholder.position + 1) is \(argument.kindDescription), \
                which \(placeholder.specifier) does not accept
                """
            throw error(.argument, message, at: range)
        }
        return argument
    }

    /// Returns the names in the argument of `%K`.
    mutating func names(
        for placeholder: FormatPlaceholder,
        at range: Range<String.Index>
    ) throws(PredicateFormatError) -> [FormatSyntax.Step.Kind] {
        guard case .text(let path) = try argument(placeholder, at: range) else { return [] }
        let names = path.split(separator: ".", omittingEmptySubsequences: false)
        if names.contains(where: \.isEmpty) {
            throw error(.argument, "argument \(placeholder.position + 1) is not a key path", at: range)
        }
        return names.map { $0.first == "@" ? .collectionOperator(String($0.dropFirst())) : .name(String($0)) }
    }

    private func variable(_ name: String, at range: Range<String.Index>) throws(PredicateFormatError) -> FormatOperand {
        if let (_, collection) = scope.last(where: { $0.name == name }) {
            return .value(collection.value, collection.type)
        }
        guard let value = variables[name] else {
            let known = scope.map(\.name) + variables.keys
            let message = "there is no SUBQUERY with the variable $\(name) around it, and no value is given for it"
            throw error(
                .unknownName,
                message,
                suggestions: NameSuggestions(for: name, among: known).names.map { "$\($0)" },
                at: range
            )
        }
        if !value.isSupported {
            let message = "the value of $\(name) is \(value.kindDescription), which a predicate cannot use"
            throw error(.argument, message, at: range)
        }
        return .constant(value)
    }
}

extension PredicateArgument {
    /// Returns whether a specifier accepts the argument.
    fileprivate func fits(_ placeholder: FormatPlaceholder) -> Bool {
        guard isSupported else { return false }
        return switch (placeholder.kind, self) {
        case (.value, _): true
        case (.keyPath, .text), (.text, .text): true
        case (.integer, .integer), (.integer, .unsigned), (.integer, .boolean): true
        case (.integer, .stored(.integer)), (.real, .stored(.real)), (.real, .stored(.integer)): true
        case (.real, .integer), (.real, .unsigned), (.real, .real), (.real, .decimal): true
        default: false
        }
    }
}
