import Foundation
import ObjectGraph

extension PredicateExpressions.SequenceContains: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        switch try context.readCollection(sequence) {
        case .constant(let constant):
            let element = try context.read(element)
            if element.isConstant { return try context.constant(self) }
            // A range is handled before its elements are enumerated, since it can have millions.
            if let range = constant.value as? any CapturedRange {
                return .value(try range.contains(element))
            }
            guard let elements = constant.value as? LHS.Output else { break }
            return .value(try membership(of: element, in: elements))
        case .members(let members):
            return .value(
                try context.enterClosure {
                    members.contains(try equality(members.reading, context.read(element)))
                }
            )
        default: break
        }
        throw UnsupportedPredicate("'contains' on '\(LHS.Output.self)'")
    }

    /// Returns whether a value is among captured values.
    private func membership(of element: Reading, in elements: LHS.Output) throws -> QueryExpression {
        if case .object(let object) = element {
            let keys = try elements.compactMap { element -> Value? in
                let constant = Constant(element)
                if case .null? = constant.literal { return .null }
                return try queryKey(of: constant, in: object.entity).map { .integer($0) }
            }
            let isMember = QueryExpression.isMember(object.key, of: keys)
            return .conjunction([object.requirement, isMember].compactMap(\.self))
        }
        if case .composite = element {
            return .disjunction(try elements.map { try equality(element, .constant(Constant($0))) })
        }
        var literals: [Value]
        if let known = (elements as? any CapturedValues)?.literals {
            literals = known
        } else {
            literals = try elements.map { element in
                guard let literal = queryLiteral(of: element) else {
                    throw UnsupportedPredicate("'contains' on captured values of '\(LHS.Output.Element.self)'")
                }
                return literal
            }
        }
        // NaN equals nothing.
        if case .real? = literals.first(where: { !$0.isNull }) { literals.removeAll(where: \.isNotANumber) }
        return .isMember(try element.expression(for: "'contains'"), of: literals)
    }
}

/// A captured collection of storable elements, which need no check one by one.
private protocol CapturedValues {
    /// The stored forms; nil if a type refuses to store its value.
    var literals: [Value]? { get }
}

extension Array: CapturedValues where Element: StorableValue {
    fileprivate var literals: [Value]? { try? map { try $0.storedValue } }
}

extension Set: CapturedValues where Element: StorableValue {
    fileprivate var literals: [Value]? { try? map { try $0.storedValue } }
}

extension PredicateExpressions.SequenceContainsWhere: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        switch try context.readCollection(sequence) {
        case .members(let members):
            return .value(members.contains(try context.condition(test, on: variable.key, of: members)))
        case .constant(let constant):
            guard let elements = constant.value as? LHS.Output else { break }
            return .value(
                .disjunction(
                    try elements.map { element in
                        try context.bind(variable, to: element) { try context.condition(test) }
                    }
                )
            )
        default: break
        }
        throw UnsupportedPredicate("'contains(where:)' on '\(LHS.Output.self)'")
    }
}

extension PredicateExpressions.SequenceAllSatisfy: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        switch try context.readCollection(sequence) {
        case .members(let members):
            return .value(members.allSatisfy(try context.condition(test, on: variable.key, of: members)))
        case .constant(let constant):
            guard let elements = constant.value as? LHS.Output else { break }
            return .value(
                .conjunction(
                    try elements.map { element in
                        try context.bind(variable, to: element) { try context.condition(test) }
                    }
                )
            )
        default: break
        }
        throw UnsupportedPredicate("'allSatisfy' on '\(LHS.Output.self)'")
    }
}

extension PredicateExpressions.Filter: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let reading = try context.readCollection(sequence)
        // Foundation filters captured elements by a condition that depends on captured values only.
        if reading.isConstant { return try context.constant(self) }
        guard case .members(var members) = reading else {
            throw UnsupportedPredicate("'filter' on '\(LHS.Output.self)'")
        }
        members.filters.append(try context.condition(filter, on: variable.key, of: members))
        return .members(members)
    }
}
