import Foundation
import ObjectGraph

extension PredicateExpressions.Conjunction: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let first = try context.condition(lhs)
        // Swift does not evaluate the second operand, which may have no reading: a captured nil that is unwrapped, for
        // example.
        if first == .bool(false) { return .value(first) }
        return .value(.conjunction([first, try context.condition(rhs)]))
    }
}

extension PredicateExpressions.Disjunction: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let first = try context.condition(lhs)
        if first == .bool(true) { return .value(first) }
        return .value(.disjunction([first, try context.condition(rhs)]))
    }
}

extension PredicateExpressions.Negation: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        .value(.negation(try context.negatedCondition(wrapped)))
    }
}

extension PredicateExpressions.Conditional: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let test = try context.condition(test)
        // Swift evaluates the chosen branch only.
        if case .literal = test {
            return try test == .bool(true) ? context.read(trueBranch).ofNode : context.read(falseBranch).ofNode
        }
        let (first, second) = (try context.readBranch(trueBranch), try context.readBranch(falseBranch))
        if Output.self == Bool.self { return .value(.choice(test, try first.condition(), try second.condition())) }
        let part = "a choice of '\(Output.self)'"
        return .value(.conditional(test, try first.expression(for: part), try second.expression(for: part)))
    }
}
