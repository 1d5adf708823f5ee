import Foundation

/// Evaluates conditions and values for objects in memory, with the meaning that they have in a store.
struct QueryEvaluator {
    /// Whether a condition holds for an object.
    ///
    /// - Throws: ``QueryError`` where the condition cannot be evaluated, as when a number overflows.
    func isTrue(_ condition: QueryExpression, for object: any GraphObject) throws -> Bool {
        try isTrue(condition, [.object(object)])
    }

    /// The value of an expression for an object.
    func value(_ expression: QueryExpression, for object: any GraphObject) throws -> Value {
        try value(expression, [.object(object)])
    }

    /// The value of an expression that depends on no object.
    fileprivate func value(_ expression: QueryExpression) throws -> Value {
        assert(expression.isConstant)
        return try value(expression, [])
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
                if let precedes = key.precedes(left.values[position], right.values[position]) { return precedes }
            }
            let (leftKey, rightKey) = (left.object.state.pointee.key, right.object.state.pointee.key)
            // Temporary keys count downwards.
            if leftKey < 0, rightKey < 0 { return leftKey > rightKey }
            return leftKey < 0 ? false : rightKey < 0 ? true : leftKey < rightKey
        }
    }

    // MARK: Conditions

    /// What a variable stands for.
    private enum Variable {
        case object(any GraphObject)
        case element(Value)

        var object: (any GraphObject)? {
            if case .object(let object) = self { object } else { nil }
        }

        var value: Value {
            switch self {
            case .object(let object): .integer(object.state.pointee.key)
            case .element(let value): value
            }
        }
    }

    private func isTrue(_ condition: QueryExpression, _ variables: [Variable]) throws -> Bool {
        switch condition {
        case .and(let conditions): try conditions.allSatisfy { try isTrue($0, variables) }
        case .or(let conditions): try conditions.contains { try isTrue($0, variables) }
        case .not(let condition): try !isTrue(condition, variables)
        case .comparison(let comparison, let left, let right):
            compare(comparison, try value(left, variables), try value(right, variables))
        case .isMember(let element, let values):
            try { element in values.contains { compare(.equal, $0, element) } }(value(element, variables))
        case .isKind(let start, let path, let entity):
            object(at: path, variables[start])?.entity.isKind(of: entity) ?? false
        case .quantified(.any, let source, let variable, let condition):
            try (members(of: source, variables) ?? []).contains { member in
                try isTrue(condition, bind(member, variable, variables))
            }
        case .quantified(.all, let source, let variable, let condition):
            try (members(of: source, variables) ?? []).allSatisfy { member in
                try isTrue(condition, bind(member, variable, variables))
            }
        case .conditional(let test, let first, let second):
            try isTrue(try isTrue(test, variables) ? first : second, variables)
        default:
            try value(condition, variables).isTrue
        }
    }

    private func compare(_ comparison: QueryExpression.Comparison, _ left: Value, _ right: Value) -> Bool {
        // What is no number equals nothing, itself included.
        if left.isNotANumber || right.isNotANumber { return comparison == .notEqual }
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

    private func bind(_ member: Variable, _ variable: Int, _ variables: [Variable]) -> [Variable] {
        assert(variable == variables.count, "variables are numbered by their depth")
        return variables + [member]
    }

    // MARK: Values

    private func value(_ expression: QueryExpression, _ variables: [Variable]) throws -> Value {
        switch expression {
        case .literal(let value): return value
        case .variable(let variable), .element(let variable, _): return variables[variable].value
        case .path(let start, let path): return value(at: path, variables[start])
        case .component(let keys, let whole, let type):
            guard case .text(let text) = try value(whole, variables) else { return .null }
            return JSONText(text).value(at: keys, as: type)
        case .arithmetic(let operation, let left, let right):
            let kind = QueryExpression.numberKind(of: left, right)
            return try operation.apply(value(left, variables), value(right, variables), as: kind)
        case .conditional(let test, let first, let second):
            return try value(try isTrue(test, variables) ? first : second, variables)
        case .coalesce(let expressions):
            for expression in expressions {
                let value = try value(expression, variables)
                if !value.isNull { return value }
            }
            return .null
        case .function(let function, let arguments):
            return try function.apply(arguments.map { try value($0, variables) })
        case .aggregated(let aggregate, let source, let variable, let value, let condition):
            guard let members = try members(of: source, variables) else { return .null }
            var values: [Value] = []
            for member in members {
                let variables = bind(member, variable, variables)
                if try isTrue(condition, variables) { values.append(try self.value(value, variables)) }
            }
            return try aggregate.apply(values, of: value.resultType)
        case .and, .or, .not, .comparison, .isMember, .isKind, .quantified:
            return .integer(try isTrue(expression, variables) ? 1 : 0)
        case .aggregate: throw QueryError.misplacedAggregate
        case .parameter: throw QueryError.unboundParameter
        }
    }

    /// The object at the end of a path of to-one relationships.
    private func object(at path: some Collection<Property>, _ start: Variable) -> (any GraphObject)? {
        guard var object = start.object else { return nil }
        for step in path {
            guard object.has(step), let next = object.destination(at: step.slot) else { return nil }
            object = next
        }
        return object
    }

    private func value(at path: [Property], _ start: Variable) -> Value {
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

    /// The members of a collection; nil where it is that of no object.
    private func members(of source: CollectionSource, _ variables: [Variable]) throws -> [Variable]? {
        switch source {
        case .members(let start, let path):
            guard let last = path.last, let object = object(at: path.dropLast(), variables[start]), object.has(last)
            else { return nil }
            return object.memberObjects(at: last.slot).map { .object($0) }
        case .elements(let whole, let type):
            guard case .text(let text) = try value(whole, variables) else { return nil }
            return JSONText(text).elements(as: type)?.map { .element($0) }
        }
    }
}

extension QueryExpression {
    /// The value of an expression that depends on no object.
    ///
    /// - Throws: ``QueryError``.
    package var constantValue: Value {
        get throws { try QueryEvaluator().value(self) }
    }
}

extension Value {
    /// Whether the value, as a condition, is true.
    package var isTrue: Bool {
        switch self {
        case .integer(let integer): integer != 0
        case .real(let real): real != 0
        case .null, .text, .blob, .uuid: false
        }
    }

    fileprivate var isNotANumber: Bool {
        if case .real(let real) = self { real.isNaN } else { false }
    }
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
