import Foundation
import ObjectGraph

/// What is known around the node that is read: the variables in scope, and what the reading has come across.
final class ReadingContext {
    private enum Binding {
        /// A member of a collection.
        case member(Reading)
        /// Another reading, and how to have it again where more variables are bound: what it binds itself is numbered on
        /// from there.
        case reading(Reading, depth: Int, again: () throws -> Reading)
    }

    /// The model of the store.
    let model: ManagedObjectModel
    /// The fetched object, and the variable that stands for it.
    private let root: (variable: PredicateExpressions.VariableID, object: ObjectReference)
    /// The values of the variables that are constant, for Foundation to evaluate constant parts with.
    var constants = PredicateBindings()
    /// The variables besides that of the fetched object.
    private var variables: [(id: PredicateExpressions.VariableID, binding: Binding)] = []
    /// The number of the next object that a closure binds.
    private(set) var depth = 1
    /// Whether the condition being read stands under an odd number of negations.
    private var isNegated = false
    /// What has to be true for the condition being read to have a value at all: what is unwrapped by force is there.
    private var requirements: [QueryExpression] = []

    /// Makes a context in which a variable stands for the fetched object.
    init(model: ManagedObjectModel, variable: PredicateExpressions.VariableID, entity: Entity) {
        self.model = model
        root = (variable, ObjectReference(variable: 0, entity: entity))
    }

    // MARK: Nodes

    /// Reads a node.
    func read<Node: PredicateExpression>(_ node: Node) throws -> Reading {
        guard let node = node as? any ReadableExpression else { throw UnsupportedPredicate(unknown: Node.self) }
        return try node.read(in: self)
    }

    /// Reads a node as a condition.
    ///
    /// Where Swift would fail to unwrap something by force, the innermost comparison around it is false, or true under a
    /// negation.
    func condition<Node: PredicateExpression>(_ node: Node) throws -> QueryExpression {
        let outer = requirements
        requirements = []
        defer { requirements = outer }
        let condition = try read(node).condition()
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

    /// Reads a node that Swift does not always evaluate. What it unwraps by force is required only there: it is null
    /// where Swift would fail.
    func readBranch<Node: PredicateExpression>(_ node: Node) throws -> Reading {
        if Node.Output.self == Bool.self {
            return .value(try condition(node))
        }
        let outer = requirements
        requirements = []
        defer { requirements = outer }
        let reading = try read(node)
        guard case .value(let value) = reading else { return reading }
        let missing = requirements.filter { requirement in
            guard let required = requirement.requiredValue else { return true }
            return !value.isNull(whereNull: required)
        }
        return missing.isEmpty ? reading : .value(.conditional(.conjunction(missing), value, .literal(.null)))
    }

    /// Reads a node as a value: null where Swift would fail to unwrap something by force.
    func value<Node: PredicateExpression>(_ node: Node) throws -> QueryExpression {
        try readBranch(node).expression(for: "a value")
    }

    /// Has Foundation evaluate a node that depends on no object.
    func constant<Node: PredicateExpression>(_ node: Node) throws -> Reading {
        do {
            return .constant(Constant(try node.evaluate(constants)))
        } catch {
            throw UnsupportedPredicate("a constant part that cannot be evaluated (\(error))")
        }
    }

    /// Notes that the condition being read has no value unless `requirement` is true.
    func require(_ requirement: QueryExpression) {
        if !requirements.contains(requirement) { requirements.append(requirement) }
    }

    // MARK: Variables

    /// What a variable stands for.
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

    /// Reads with a variable bound to what a node stands for.
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

    /// Reads what stands inside a closure over members.
    func enterClosure<R>(_ body: () throws -> R) rethrows -> R {
        depth += 1
        defer { depth -= 1 }
        return try body()
    }

    /// Reads the body of a closure over members as a condition on one of them.
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
