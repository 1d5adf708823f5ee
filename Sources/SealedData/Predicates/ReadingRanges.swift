import Foundation
import ObjectGraph

extension PredicateExpressions.ClosedRange: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let part = "a range"
        return .range(
            QueryRange(
                lower: try context.read(lower).expression(for: part),
                upper: try context.read(upper).expression(for: part),
                includesUpper: true
            )
        )
    }
}

extension PredicateExpressions.Range: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let part = "a range"
        return .range(
            QueryRange(
                lower: try context.read(lower).expression(for: part),
                upper: try context.read(upper).expression(for: part),
                includesUpper: false
            )
        )
    }
}

extension PredicateExpressions.RangeExpressionContains: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let (rangeReading, elementReading) = (try context.read(range), try context.read(element))
        switch rangeReading {
        case .range(let range): return .value(try range.contains(elementReading, of: Element.Output.self))
        case .constant(let constant):
            if elementReading.isConstant { return try context.constant(self) }
            guard let range = constant.value as? any CapturedRange else { break }
            return .value(try range.contains(elementReading))
        default: break
        }
        throw UnsupportedPredicate("'contains' on '\(RangeExpression.Output.self)'")
    }
}

extension QueryRange {
    /// Returns whether a value is within the bounds.
    fileprivate func contains<Bound: Comparable>(_ element: Reading, of type: Bound.Type) throws -> QueryExpression {
        var conditions: [QueryExpression] = []
        if let lower { conditions.append(try orderComparison(.greaterOrEqual, element, .value(lower), of: type)) }
        if let upper {
            conditions.append(
                try orderComparison(includesUpper ? .lessOrEqual : .less, element, .value(upper), of: type)
            )
        }
        return .conjunction(conditions)
    }
}

/// A captured range.
protocol CapturedRange {
    associatedtype Bound: Comparable
    var lower: Bound? { get }
    var upper: Bound? { get }
    var includesUpper: Bool { get }
}

extension CapturedRange {
    var lower: Bound? { nil }
    var upper: Bound? { nil }
    var includesUpper: Bool { false }

    /// Returns whether a value is in the range.
    func contains(_ element: Reading) throws -> QueryExpression {
        var conditions: [QueryExpression] = []
        if let lower {
            conditions.append(try orderComparison(.greaterOrEqual, element, .constant(Constant(lower)), of: Bound.self))
        }
        if let upper {
            let comparison: QueryExpression.Comparison = includesUpper ? .lessOrEqual : .less
            conditions.append(try orderComparison(comparison, element, .constant(Constant(upper)), of: Bound.self))
        }
        return .conjunction(conditions)
    }
}

extension ClosedRange: CapturedRange {
    var lower: Bound? { lowerBound }
    var upper: Bound? { upperBound }
    var includesUpper: Bool { true }
}

extension Range: CapturedRange {
    var lower: Bound? { lowerBound }
    var upper: Bound? { upperBound }
}

extension PartialRangeFrom: CapturedRange {
    var lower: Bound? { lowerBound }
}

extension PartialRangeThrough: CapturedRange {
    var upper: Bound? { upperBound }
    var includesUpper: Bool { true }
}

extension PartialRangeUpTo: CapturedRange {
    var upper: Bound? { upperBound }
}
