import Foundation
import ObjectGraph

extension PredicateExpressions.SequenceMaximum: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let elements = try context.readCollection(elements)
        if elements.isConstant { return try context.constant(self) }
        return .value(try elements.extreme(.maximum, of: Elements.Output.Element.self))
    }
}

extension PredicateExpressions.SequenceMinimum: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let elements = try context.readCollection(elements)
        if elements.isConstant { return try context.constant(self) }
        return .value(try elements.extreme(.minimum, of: Elements.Output.Element.self))
    }
}

extension Reading {
    /// Returns the smallest or largest element; null if there are no elements.
    fileprivate func extreme<Element>(
        _ aggregate: QueryExpression.Aggregate,
        of type: Element.Type
    ) throws -> QueryExpression {
        // The order of an enum can differ from the order of its stored form, and JSON text has no order.
        guard case .members(let members) = self, case .value(let stored) = members.member, stored != .composite,
            type is any StorableValue.Type
        else {
            throw UnsupportedPredicate("the \(aggregate.rawValue) of values of '\(type)'")
        }
        return .aggregated(
            aggregate,
            members.source,
            variable: members.number,
            value: members.source.member(members.number),
            condition: .conjunction(members.filters)
        )
    }
}
