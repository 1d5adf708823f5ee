import Foundation
import ObjectGraph

/// The context of the current node: the variables in scope, and the requirements found so far.
final class ReadingContext {
    private enum Binding {
        /// A member of a collection.
        case member(Reading)
        /// The reading of a node, and the function that reads the node again at another depth, where its bound
        /// variables have other numbers.
        case reading(Reading, depth: Int, again: () throws -> Reading)
    }

    /// The model of the store.
    let model: ManagedObjectModel
    /// The fetched object and its variable.
    private let root: (variable: PredicateExpressions.VariableID, object: ObjectReference)
    /// The values of the constant variables, with which Foundation evaluates constant parts.
    var constants = PredicateBindings()
    /// The variables except the variable of the fetched object.
    private var variables: [(id: PredicateExpressions.VariableID, binding: Binding)] = []
    /// The number of the next variable that a closure binds.
    private(set) var depth = 1
    /// Whether the current condition is inside an odd number of negations.
    private var isNegated = false
    /// The conditions without which the current condition has no value: force-unwrapped values are not nil.
    private var requirements: [QueryExpression] = []

    /// Creates a context with the variable of the fetched object.
    init(model: ManagedObjectModel, variable: PredicateExpressions.VariableID, entity: Entity) {
        self.model = model
        root = (variable, ObjectReference(variable: 0, entity: entity))
    }

    // MARK: Nodes

    /// Reads a node.
    func read<Node: PredicateExpression>(_ node: Node) throws -> Reading {
        try ReadableExpressions.read(node, in: self)
    }

    /// Reads a node as a condition.
    ///
    /// If force-unwrapping would trap in Swift, the innermost enclosing comparison is false, or true inside a negation.
    func condition<Node: PredicateExpression>(_ node: Node) throws -> QueryExpression {
        let outer = requirements
        requirements = []
        defer { requirements = outer }
        let condition: QueryExpression
        do {
            condition = try read(node).condition()
        } catch {
            // Without the unwrapped value, the rest of the comparison can have no reading.
            guard requiresMissingValue else { throw error }
            return .bool(isNegated)
        }
        if requirements.isEmpty { return condition }
        return isNegated
            ? .disjunction(requirements.map { .negation($0) } + [condition])
            : .conjunction(requirements + [condition])
    }

    /// Reads the operand of a negation as a condition.
    func negatedCondition<Node: PredicateExpression>(_ node: Node) throws -> QueryExpression {
        isNegated.toggle()
        defer { isNegated.toggle() }
        return try condition(node)
    }

    /// Reads a node that Swift evaluates conditionally. The values that it force-unwraps are required only inside it:
    /// the node is null if force-unwrapping would trap in Swift.
    func readBranch<Node: PredicateExpression>(_ node: Node) throws -> Reading {
        if Node.Output.self == Bool.self {
            return .value(try condition(node))
        }
        let outer = requirements
        requirements = []
        defer { requirements = outer }
        let reading: Reading
        do {
            reading = try read(node)
        } catch {
            guard requiresMissingValue else { throw error }
            return .value(.literal(.null))
        }
        guard case .value(let value) = reading else { return reading }
        let missing = requirements.filter { requirement in
            guard let required = requirement.requiredValue else { return true }
            return !value.isNull(whereNull: required)
        }
        return missing.isEmpty ? reading : .value(.conditional(.conjunction(missing), value, .literal(.null)))
    }

    /// Reads a node as a value: null if force-unwrapping would trap in Swift.
    func value<Node: PredicateExpression>(_ node: Node) throws -> QueryExpression {
        try readBranch(node).expression(for: "a value")
    }

    /// Evaluates a node that depends on no object with Foundation.
    ///
    /// - Throws: ``UnsupportedPredicate`` if evaluating it fails.
    func constant<Node: PredicateExpression>(_ node: Node) throws -> Reading {
        do {
            return .constant(Constant(try node.evaluate(constants)))
        } catch {
            throw UnsupportedPredicate("a constant part that cannot be evaluated (\(error))")
        }
    }

    /// Evaluates the part of a captured collection at captured positions with Foundation. If the collection has fewer
    /// elements, which traps in Swift, the current condition has no value.
    ///
    /// - Throws: ``UnsupportedPredicate`` if evaluating it fails.
    func constantPart<Node: PredicateExpression>(_ node: Node) throws -> Reading {
        do {
            return try constant(node)
        } catch {
            require(.bool(false))
            throw error
        }
    }

    /// Records that the current condition has no value unless `requirement` is true.
    func require(_ requirement: QueryExpression) {
        if !requirements.contains(requirement) { requirements.append(requirement) }
    }

    /// Whether the current condition traps in Swift for every object: a captured value that it unwraps is nil.
    private var requiresMissingValue: Bool { requirements.contains(.bool(false)) }

    // MARK: Variables

    /// Returns the reading of a variable.
    func reading(of variable: PredicateExpressions.VariableID) throws -> Reading {
        guard let (_, binding) = variables.last(where: { $0.id == variable }) else {
            if variable == root.variable { return .object(root.object) }
            throw UnsupportedPredicate("a variable from outside the predicate")
        }
        switch binding {
        case .member(let reading): return reading
        case .reading(let reading, let depth, let again): return depth == self.depth ? reading : try again()
        }
    }

    /// Reads with a variable bound to the reading of a node.
    func bind<Node: PredicateExpression, R>(
        _ variable: PredicateExpressions.VariableID,
        to node: Node,
        readAs reading: Reading,
        _ body: () throws -> R
    ) rethrows -> R {
        variables.append((variable, .reading(reading, depth: depth, again: { [unowned self] in try read(node) })))
        defer { variables.removeLast() }
        return try body()
    }

    /// Reads with a variable bound to a constant.
    func bind<T, R>(_ variable: PredicateExpressions.Variable<T>, to value: T, _ body: () throws -> R) rethrows -> R {
        let reading = Reading.constant(Constant(value))
        let outer = constants
        constants[variable] = value
        variables.append((variable.key, .reading(reading, depth: depth, again: { reading })))
        defer {
            variables.removeLast()
            constants = outer
        }
        return try body()
    }

    /// Reads the body of a closure over members.
    func enterClosure<R>(_ body: () throws -> R) rethrows -> R {
        depth += 1
        defer { depth -= 1 }
        return try body()
    }

    /// Reads the body of a closure over members as a condition on a member.
    func condition<Node: PredicateExpression>(
        _ body: Node,
        on variable: PredicateExpressions.VariableID,
        of members: Members
    ) throws -> QueryExpression {
        let reading = members.reading
        variables.append((variable, .member(reading)))
        defer { variables.removeLast() }
        return try enterClosure { try condition(body) }
    }
}
