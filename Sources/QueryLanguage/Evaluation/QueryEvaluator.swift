import Foundation

/// Evaluates expressions for objects in memory, with the same results as a store.
package struct QueryEvaluator {
    package init() {}

    /// Returns whether a condition holds for an object.
    ///
    /// - Throws: ``QueryError`` if the condition cannot be evaluated, such as for an overflow.
    package func isTrue(_ condition: QueryExpression, for object: any QueryObject) throws -> Bool {
        try isTrue(condition, [.object(object)])
    }

    /// Returns the value of an expression for an object.
    package func value(_ expression: QueryExpression, for object: any QueryObject) throws -> Value {
        try value(expression, [.object(object)])
    }

    /// Returns the value of a constant expression.
    fileprivate func value(_ expression: QueryExpression) throws -> Value {
        assert(expression.isConstant)
        return try value(expression, [])
    }

    // MARK: Conditions

    /// The value that a variable is bound to.
    private enum Variable {
        case object(any QueryObject)
        case element(Value)

        var object: (any QueryObject)? {
            if case .object(let object) = self { object } else { nil }
        }

        var value: Value {
            switch self {
            case .object(let object): .integer(object._$queryKey)
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
            comparison.apply(try value(left, variables), try value(right, variables))
        case .isMember(let element, let values):
            try { element in values.contains { QueryExpression.Comparison.equal.apply($0, element) } }(
                value(element, variables)
            )
        case .isKind(let start, let path, let entity):
            object(at: path, variables[start])?._$queryEntity.isKind(of: entity) ?? false
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
            guard let kind = QueryExpression.numberKind(of: left, right) else { throw QueryError.conflictingTypes }
            return try operation.apply(value(left, variables), value(right, variables), as: kind)
        case .conditional(let test, let first, let second):
            return try value(try isTrue(test, variables) ? first : second, variables)
        case .coalesce(let candidates):
            for expression in candidates {
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

    /// Returns the object at the end of a path of to-one relationships.
    private func object(at path: some Collection<Property>, _ start: Variable) -> (any QueryObject)? {
        guard var object = start.object else { return nil }
        for step in path {
            guard object.has(step), let next = object._$queryDestination(at: step.slot) else { return nil }
            object = next
        }
        return object
    }

    private func value(at path: [Property], _ start: Variable) -> Value {
        guard let last = path.last, let object = object(at: path.dropLast(), start), object.has(last) else {
            return .null
        }
        switch last {
        case .attribute: return object._$storedValue(at: last.slot).withoutNegativeZero
        case .relationship:
            guard let destination = object._$queryDestination(at: last.slot) else { return .null }
            return .integer(destination._$queryKey)
        }
    }

    /// Returns the members of a collection; nil if its owner is null.
    private func members(of source: CollectionSource, _ variables: [Variable]) throws -> [Variable]? {
        switch source {
        case .members(let start, let path):
            guard let last = path.last, let object = object(at: path.dropLast(), variables[start]), object.has(last)
            else { return nil }
            return object._$queryMembers(at: last.slot).map { .object($0) }
        case .elements(let whole, let type):
            guard case .text(let text) = try value(whole, variables) else { return nil }
            return JSONText(text).elements(as: type)?.map { .element($0) }
        }
    }
}

extension QueryExpression {
    /// The value of a constant expression.
    ///
    /// - Throws: ``QueryError``.
    package var constantValue: Value {
        get throws { try QueryEvaluator().value(self) }
    }

    /// Returns whether the condition holds for the current values of an object.
    ///
    /// - Throws: ``QueryError`` if the condition cannot be evaluated.
    package func isTrue(for object: any QueryObject) throws -> Bool {
        try QueryEvaluator().isTrue(self, for: object)
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
}

extension Value {
    /// Zero for negative zero, which a store's expressions read as zero; other values unchanged.
    fileprivate var withoutNegativeZero: Value {
        if case .real(0) = self { .real(0) } else { self }
    }
}

extension QueryObject {
    /// Returns whether the object's entity has a property.
    fileprivate func has(_ property: Property) -> Bool {
        let properties = _$queryEntity.properties
        return property.slot < properties.count && properties[property.slot] == property
    }
}
