import Foundation

/// Evaluates conditions and values for objects in memory, with the meaning that they have in a store.
struct QueryEvaluator {
    /// Whether a condition holds for an object.
    ///
    /// - Throws: ``QueryError`` where the condition cannot be evaluated, as when a number overflows.
    func isTrue(_ condition: QueryExpression, for object: any GraphObject) throws -> Bool {
        try isTrue(condition, [object])
    }

    /// The value of an expression for an object.
    func value(_ expression: QueryExpression, for object: any GraphObject) throws -> Value {
        try value(expression, [object])
    }

    // MARK: Order

    /// Puts objects into the order that sort keys tell, those that are equal by primary key, new objects last.
    ///
    /// - Parameter sorted: Objects that are in that order already.
    func merge(
        _ sorted: [any GraphObject],
        _ others: [any GraphObject],
        by sort: [QuerySort]
    ) throws -> [any GraphObject] {
        guard !others.isEmpty else { return sorted }
        let left = try sorted.map { try Ranked($0, sort, self) }
        let right = try others.map { try Ranked($0, sort, self) }.sorted { Ranked.precedes($0, $1, sort) }
        var result: [any GraphObject] = []
        result.reserveCapacity(left.count + right.count)
        var next = right.startIndex
        for ranked in left {
            while next < right.endIndex, Ranked.precedes(right[next], ranked, sort) {
                result.append(right[next].object)
                next += 1
            }
            result.append(ranked.object)
        }
        return result + right[next...].map(\.object)
    }

    /// An object with the values that it is sorted by.
    private struct Ranked {
        let object: any GraphObject
        let values: [Value]

        init(_ object: any GraphObject, _ sort: [QuerySort], _ evaluator: QueryEvaluator) throws {
            self.object = object
            values = try sort.map { try evaluator.value($0.expression, for: object) }
        }

        static func precedes(_ left: Ranked, _ right: Ranked, _ sort: [QuerySort]) -> Bool {
            for (position, key) in sort.enumerated() {
                let order = left.values[position].compare(right.values[position])
                if order != 0 { return (order < 0) == key.ascending }
            }
            let (leftKey, rightKey) = (left.object.state.pointee.key, right.object.state.pointee.key)
            // Temporary keys count downwards.
            if leftKey < 0, rightKey < 0 { return leftKey > rightKey }
            return leftKey < 0 ? false : rightKey < 0 ? true : leftKey < rightKey
        }
    }

    // MARK: Conditions

    private func isTrue(_ condition: QueryExpression, _ variables: [any GraphObject]) throws -> Bool {
        switch condition {
        case .and(let conditions): try conditions.allSatisfy { try isTrue($0, variables) }
        case .or(let conditions): try conditions.contains { try isTrue($0, variables) }
        case .not(let condition): try !isTrue(condition, variables)
        case .comparison(let comparison, let left, let right):
            compare(comparison, try value(left, variables), try value(right, variables))
        case .isMember(let element, let values):
            try { element in values.contains { $0.compare(element) == 0 } }(value(element, variables))
        case .isKind(let start, let path, let entity):
            object(at: path, variables[start])?.entity.isKind(of: entity) ?? false
        case .quantified(let quantifier, let start, let path, let variable, let condition):
            try isTrue(quantifier, members(of: path, variables[start]), variable, condition, variables)
        case .conditional(let test, let first, let second):
            try isTrue(try isTrue(test, variables) ? first : second, variables)
        default:
            if case .integer(let integer) = try value(condition, variables) { integer != 0 } else { false }
        }
    }

    private func compare(_ comparison: QueryExpression.Comparison, _ left: Value, _ right: Value) -> Bool {
        switch comparison {
        case .equal: return left.compare(right) == 0
        case .notEqual: return left.compare(right) != 0
        case .less, .lessOrEqual, .greater, .greaterOrEqual: break
        }
        if left.isNull || right.isNull { return false }
        let order = left.compare(right)
        return switch comparison {
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        default: order >= 0
        }
    }

    private func isTrue(
        _ quantifier: QueryExpression.Quantifier,
        _ members: [any GraphObject]?,
        _ variable: Int,
        _ condition: QueryExpression,
        _ variables: [any GraphObject]
    ) throws -> Bool {
        let members = members ?? []
        return switch quantifier {
        case .any: try members.contains { try isTrue(condition, bind($0, variable, variables)) }
        case .all: try members.allSatisfy { try isTrue(condition, bind($0, variable, variables)) }
        }
    }

    private func bind(
        _ object: any GraphObject,
        _ variable: Int,
        _ variables: [any GraphObject]
    ) -> [any GraphObject] {
        assert(variable == variables.count, "variables are numbered by their depth")
        return variables + [object]
    }

    // MARK: Values

    private func value(_ expression: QueryExpression, _ variables: [any GraphObject]) throws -> Value {
        switch expression {
        case .literal(let value): return value
        case .variable(let variable): return .integer(variables[variable].state.pointee.key)
        case .path(let start, let path): return value(at: path, variables[start])
        case .arithmetic(let operation, let left, let right):
            return try calculate(operation, value(left, variables), value(right, variables))
        case .conditional(let test, let first, let second):
            return try value(try isTrue(test, variables) ? first : second, variables)
        case .coalesce(let expressions):
            for expression in expressions {
                let value = try value(expression, variables)
                if !value.isNull { return value }
            }
            return .null
        case .function(let function, let arguments):
            return try apply(function, arguments.map { try value($0, variables) })
        case .count(let start, let path, let variable, let condition):
            guard let members = members(of: path, variables[start]) else { return .null }
            let count = try members.count { try isTrue(condition, bind($0, variable, variables)) }
            return .integer(Int64(count))
        case .and, .or, .not, .comparison, .isMember, .isKind, .quantified:
            return .integer(try isTrue(expression, variables) ? 1 : 0)
        case .aggregate: throw QueryError.misplacedAggregate
        }
    }

    /// The object at the end of a path of to-one relationships.
    private func object(at path: some Collection<Property>, _ start: any GraphObject) -> (any GraphObject)? {
        var object = start
        for step in path {
            guard object.has(step), let next = object.destination(at: step.slot) else { return nil }
            object = next
        }
        return object
    }

    private func value(at path: [Property], _ start: any GraphObject) -> Value {
        guard let last = path.last, let object = object(at: path.dropLast(), start), object.has(last) else {
            return .null
        }
        switch last {
        case .attribute: return object.storedValue(at: last.slot)
        case .relationship:
            guard let destination = object.destination(at: last.slot) else { return .null }
            return .integer(destination.state.pointee.key)
        }
    }

    private func members(of path: [Property], _ start: any GraphObject) -> [any GraphObject]? {
        guard let last = path.last, let object = object(at: path.dropLast(), start), object.has(last) else {
            return nil
        }
        return object.memberObjects(at: last.slot)
    }

    private func calculate(_ operation: QueryExpression.Arithmetic, _ left: Value, _ right: Value) throws -> Value {
        switch (left, right) {
        case (.integer(let left), .integer(let right)):
            let (result, overflow) =
                switch operation {
                case .add: left.addingReportingOverflow(right)
                case .subtract: left.subtractingReportingOverflow(right)
                case .multiply: left.multipliedReportingOverflow(by: right)
                case .divide: left.dividedReportingOverflow(by: right)
                case .remainder: left.remainderReportingOverflow(dividingBy: right)
                }
            if overflow { throw QueryError.arithmeticOverflow }
            return .integer(result)
        case (.real(let left), .real(let right)):
            switch operation {
            case .add: return .real(left + right)
            case .subtract: return .real(left - right)
            case .multiply: return .real(left * right)
            case .divide: return .real(left / right)
            case .remainder: return .real(left.truncatingRemainder(dividingBy: right))
            }
        case (.integer(let left), .real): return try calculate(operation, .real(Double(left)), right)
        case (.real, .integer(let right)): return try calculate(operation, left, .real(Double(right)))
        default: return .null
        }
    }

    private func apply(_ function: QueryExpression.Function, _ arguments: [Value]) throws -> Value {
        switch (function, arguments.first, arguments.dropFirst().first) {
        case (.contains, .text(let text)?, .text(let part)?): .bool(text.utf8.contains(part.utf8))
        case (.startsWith, .text(let text)?, .text(let part)?): .bool(text.utf8.starts(with: part.utf8))
        case (.endsWith, .text(let text)?, .text(let part)?):
            .bool(text.utf8.reversed().starts(with: part.utf8.reversed()))
        case (.localizedContains, .text(let text)?, .text(let part)?): .bool(text.localizedStandardContains(part))
        case (.caseInsensitiveCompare, .text(let left)?, .text(let right)?):
            .integer(Int64(left.caseInsensitiveCompare(right).rawValue))
        case (.length, .text(let text)?, _): .integer(Int64(text.count))
        case (.length, .blob(let data)?, _): .integer(Int64(data.count))
        case (.negate, let number?, _): try calculate(.subtract, .integer(0), number)
        case (.minimum, _, _): arguments.contains(.null) ? .null : arguments.min { $0.compare($1) < 0 } ?? .null
        case (.maximum, _, _): arguments.contains(.null) ? .null : arguments.max { $0.compare($1) < 0 } ?? .null
        default: .null
        }
    }
}

extension Value {
    fileprivate static func bool(_ value: Bool) -> Value { .integer(value ? 1 : 0) }
}

extension GraphObject {
    /// Whether the object's entity has a property.
    fileprivate func has(_ property: Property) -> Bool {
        let properties = entity.properties
        return property.slot < properties.count && properties[property.slot] == property
    }

    /// The value that an attribute is stored as; null for a composite value that cannot be encoded.
    package func storedValue(at slot: Int) -> Value {
        switch slotValue(slot) {
        case .value(let value): value
        case .composite(let value): (try? value.encodedText()).map(Value.text) ?? .null
        case .unset, .members, .pending: .null
        }
    }
}
