import Foundation
import ObjectGraph

extension PredicateExpressions.Conjunction: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        .value(.conjunction([try context.condition(lhs), try context.condition(rhs)]))
    }
}

extension PredicateExpressions.Disjunction: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        .value(.disjunction([try context.condition(lhs), try context.condition(rhs)]))
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
        let (first, second) = (try context.readBranch(trueBranch), try context.readBranch(falseBranch))
        if case .literal = test { return (test == .bool(true) ? first : second).ofNode }
        if Output.self == Bool.self { return .value(.choice(test, try first.condition(), try second.condition())) }
        let part = "a choice of '\(Output.self)'"
        return .value(.conditional(test, try first.expression(for: part), try second.expression(for: part)))
    }
}
