import Foundation
import ObjectGraph

extension PredicateExpressions.OptionalFlatMap: ReadableExpression {
    /// Reads `a?.b`, and inside ``PredicateExpressions/NilCoalesce`` `if let`.
    func read(in context: ReadingContext) throws -> Reading {
        let reading = try context.read(wrapped)
        if case .constant(let constant) = reading {
            guard let value = (constant.value as? LHS.Output) ?? nil else { return .constant(Constant(Result?.none)) }
            return try context.bind(variable, to: value) { try context.readBranch(transform) }
        }
        let presence = try reading.presence()
        let result = try context.bind(variable.key, to: wrapped, readAs: reading) {
            try context.readBranch(transform)
        }
        guard let presence else { return result }
        return try result.present(where: presence)
    }

}

extension PredicateExpressions.NilCoalesce: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let left = try context.read(lhs)
        if case .constant = left {
            guard left.isNil else { return left }
            return try context.readBranch(rhs)
        }
        let right = try context.readBranch(rhs)
        if case .composite(let value) = left {
            return .composite(.coalescing(value, try right.compositeExpression(as: RHS.Output.self)))
        }
        if case .members(var members) = left {
            guard case .constant(let constant) = right, (constant.value as? any Collection)?.isEmpty ?? false else {
                throw UnsupportedPredicate("'??' with a to-many relationship and anything but an empty array")
            }
            members.isEmptyIfMissing = true
            return .members(members)
        }
        let part = "'??'"
        return .value(.coalescing(try left.expression(for: part), try right.expression(for: part)))
    }
}

extension PredicateExpressions.ForcedUnwrap: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let reading = try context.read(inner)
        if reading.isNil {
            context.require(.bool(false))
        } else if !reading.isConstant, let presence = try reading.presence() {
            context.require(presence)
        }
        return reading
    }
}

extension Reading {
    /// Returns a composite value, or the text of a captured composite value.
    fileprivate func compositeExpression<T>(as type: T.Type) throws -> QueryExpression {
        switch self {
        case .composite(let value): return value
        case .constant(let constant):
            if case .null? = constant.literal { return .literal(.null) }
            guard let text = CompositeEquality.encodedText(of: constant.value) else { break }
            return .literal(.text(text))
        default: break
        }
        throw UnsupportedPredicate("'??' with a '\(type)'")
    }

    /// Returns the condition that the reading is not nil; nil if it never is.
    func presence() throws -> QueryExpression? {
        switch self {
        case .constant: nil
        case .value(let value): value.isNeverNull ? nil : value.presence
        case .composite(let value): value.presence
        case .object(let object): object.presence
        case .members(let members): members.presence
        case .range: throw UnsupportedPredicate("an optional range")
        }
    }

    /// Returns the reading if a condition is true, otherwise nil.
    fileprivate func present(where presence: QueryExpression) throws -> Reading {
        func isImplied(_ value: QueryExpression) -> Bool {
            presence.requiredValue.map { value.isNull(whereNull: $0) } ?? false
        }
        switch self {
        case .value(let value) where isImplied(value), .composite(let value) where isImplied(value): return self
        case .object(let object) where isImplied(object.key): return self
        case .object(var object):
            object.requirement = .conjunction([presence, object.presence].compactMap(\.self))
            return .object(object)
        case .members(let members)
        where isImplied(members.count):
            return self
        case .composite(let value): return .composite(.conditional(presence, value, .literal(.null)))
        case .members: throw UnsupportedPredicate("a to-many relationship of another object than the unwrapped one")
        default:
            let value = try expression(for: "the unwrapped value")
            return .value(.conditional(presence, value, .literal(.null)))
        }
    }
}

extension QueryExpression {
    /// The condition that the value is not null.
    fileprivate var presence: QueryExpression {
        if case .conditional(let test, let value, .literal(.null)) = self, value.isNeverNull { return test }
        return .comparison(.notEqual, self, .literal(.null))
    }
}
