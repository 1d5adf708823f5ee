import Foundation
import ObjectGraph

extension PredicateExpressions.Variable: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading { try context.reading(of: key) }
}

extension PredicateExpressions.Value: ReadableExpression {
    func read(in context: ReadingContext) -> Reading { .constant(Constant(value)) }
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
            let inner = body
            body = {
                let reading = try context.read(input)
                return try context.bind(variable.key, to: input, readAs: reading, inner)
            }
        }
        return try body()
    }
}
