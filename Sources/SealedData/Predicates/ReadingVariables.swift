import Foundation
import ObjectGraph

extension PredicateExpressions.Variable: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading { try context.reading(of: key) }
}

extension PredicateExpressions.Value: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        guard isCapturable(Output.self) else {
            throw UnsupportedPredicate("a captured '\(Output.self)', which is neither Codable nor a model")
        }
        return .constant(Constant(value))
    }
}

extension PredicateExpressions.NilLiteral: ReadableExpression {
    func read(in context: ReadingContext) -> Reading { .constant(Constant(Wrapped?.none)) }
}

extension PredicateExpressions.ExpressionEvaluate: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        guard case .constant(let constant) = try context.read(expression),
            let expression = constant.value as? Expression<repeat (each Input).Output, Output>
        else { throw UnsupportedPredicate("an expression that is not captured") }
        var body: () throws -> Reading = { try context.read(expression.expression) }
        for (variable, input) in repeat (each expression.variable, each input) {
            body = bound(variable.key, to: input, in: context, body)
        }
        return try body()
    }
}

extension PredicateExpressions.Combination: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        var conditions: [QueryExpression] = []
        for predicate in predicates {
            var body: () throws -> Reading = { .value(try context.condition(predicate.expression)) }
            for (variable, input) in repeat (each predicate.variable, each inputs) {
                body = bound(variable.key, to: input, in: context, body)
            }
            let condition = try body().condition()
            // Swift does not evaluate the predicates after the one that decides the result.
            if condition == .bool(rule != .all) { return .value(.bool(rule == .any)) }
            conditions.append(condition)
        }
        switch rule {
        case .all: return .value(.conjunction(conditions))
        case .any: return .value(.disjunction(conditions))
        case .none: return .value(.negation(.disjunction(conditions)))
        }
    }
}

/// Reads with a variable bound to the reading of a node.
private func bound<Node: PredicateExpression>(
    _ variable: PredicateExpressions.VariableID,
    to node: Node,
    in context: ReadingContext,
    _ body: @escaping () throws -> Reading
) -> () throws -> Reading {
    { try context.bind(variable, to: node, readAs: try context.read(node), body) }
}
