import Foundation

extension FormatReader {
    /// Reads a function, by its name with colons (`abs:`, `add:to:`) or without (`abs`), in any case.
    mutating func call(
        _ name: String,
        _ arguments: [FormatSyntax],
        at syntax: FormatSyntax
    ) throws(PredicateFormatError) -> FormatOperand {
        guard let function = FormatFunction(name: name) else {
            let plain = name.lowercased().filter { $0 != ":" }
            if FormatFunction.unsupported.contains(plain) {
                throw error(.unsupported, "a store does not compute '\(name)'", at: syntax.range)
            }
            let suggestions = NameSuggestions(for: name, among: FormatFunction.all.map(\.name)).names
            throw error(.unknownName, "there is no function '\(name)'", suggestions: suggestions, at: syntax.range)
        }
        guard function.argumentCounts.contains(arguments.count) else {
            let count = arguments.count == 1 ? "1 argument" : "\(arguments.count) arguments"
            throw error(.syntax, "'\(name)' does not take \(count)", at: syntax.range)
        }
        switch function {
        case .now: return .constant(.date(Date()))
        case .call(let function): return try call(function, arguments[0])
        case .arithmetic(let operation):
            return try arithmetic(operation, arguments[0], arguments[1], at: syntax.range)
        case .power: return try power(arguments[0], arguments[1])
        case .coalesce:
            let (values, type) = try unified(arguments)
            return .value(values.dropFirst().reduce(values[0], QueryExpression.coalescing), type)
        case .aggregate(let aggregate): return try self.aggregate(aggregate, arguments, at: syntax)
        case .message: return try message(arguments, at: syntax)
        }
    }

    /// Reads a call of a function with one argument.
    private mutating func call(
        _ function: QueryExpression.Function,
        _ argument: FormatSyntax
    ) throws(PredicateFormatError) -> FormatOperand {
        let value: QueryExpression
        if case .call(let name, of: .text) = function.notation {
            value = try text(argument, name)
        } else {
            value = try signedNumber(argument)
        }
        let result = QueryExpression.function(function, [value])
        return .value(result, FormatType(of: result))
    }

    /// Reads an argument that is a text.
    private mutating func text(
        _ syntax: FormatSyntax,
        _ function: String
    ) throws(PredicateFormatError) -> QueryExpression {
        let (value, type) = try value(syntax, as: .string)
        guard type.isText else {
            let message = "'\(function)' needs text, and \(text(of: syntax)) is \(type.kindDescription)"
            throw error(.mismatchedTypes, message, at: syntax.range)
        }
        return value
    }

    // MARK: FUNCTION

    /// Reads FUNCTION(receiver, 'selector', arguments…): a message to the receiver in Cocoa.
    private mutating func message(
        _ arguments: [FormatSyntax],
        at syntax: FormatSyntax
    ) throws(PredicateFormatError) -> FormatOperand {
        guard case .constant(.text(let selector)) = try operand(arguments[1]) else {
            throw error(.mismatchedTypes, "FUNCTION needs the name of a selector as text", at: arguments[1].range)
        }
        let receiver = arguments[0]
        let others = Array(arguments.dropFirst(2))
        switch (selector, others.count) {
        case ("uppercaseString", 0): return try call("uppercase", [receiver], at: syntax)
        case ("lowercaseString", 0): return try call("lowercase", [receiver], at: syntax)
        case ("dateByAddingTimeInterval:", 1): return try arithmetic(.add, receiver, others[0], at: syntax.range)
        case ("timeIntervalSinceDate:", 1): return try arithmetic(.subtract, receiver, others[0], at: syntax.range)
        case ("isKindOfEntity:", 1): return .value(try kind(of: receiver, others[0]), .attribute(.bool))
        default:
            if others.count == 1, let function = QueryExpression.Function.bySelector[selector] {
                let name = FormatFunction.message.name
                let result = QueryExpression.function(function, [try text(receiver, name), try text(others[0], name)])
                return .value(result, FormatType(of: result))
            }
            // An error quotes only names of functions, never a literal.
            guard selector.lowercased() != "function", FormatFunction(name: selector) != nil else { break }
            return try call(selector, [receiver] + others, at: syntax)
        }
        let suggestions = NameSuggestions(for: selector, among: FormatFunction.all.map(\.name)).names
        throw error(.unknownName, "there is no such selector", suggestions: suggestions, at: arguments[1].range)
    }

    /// Reads whether an object is of an entity or a descendant of it.
    private mutating func kind(
        of object: FormatSyntax,
        _ name: FormatSyntax
    ) throws(PredicateFormatError) -> QueryExpression {
        guard case .constant(.text(let entityName)) = try operand(name), let entity = entity(named: entityName) else {
            throw error(.unknownName, "there is no entity \(text(of: name))", at: name.range)
        }
        switch try value(object) {
        case (.variable(let variable), .object): return .isKind(from: variable, [], of: entity)
        case (.path(let start, let path), .object): return .isKind(from: start, path, of: entity)
        case (_, let type):
            let message = "\(text(of: object)) is \(type.kindDescription), and no object"
            throw error(.mismatchedTypes, message, at: object.range)
        }
    }

    // MARK: Aggregates

    /// Reads an aggregate of the members of a collection, or of a list of values.
    private mutating func aggregate(
        _ function: QueryExpression.Aggregate,
        _ arguments: [FormatSyntax],
        at syntax: FormatSyntax
    ) throws(PredicateFormatError) -> FormatOperand {
        guard arguments.count == 1 else { return try aggregate(function, ofList: arguments, at: syntax) }
        switch try members(of: arguments[0]) {
        case .collection(let collection):
            return try aggregate(collection, function.collectionOperator, at: syntax.range)
        case .list(let elements): return try aggregate(function, ofList: elements.map(\.syntax), at: syntax)
        case .constant(.list(let values)):
            let list =
                if case .list(let elements) = arguments[0].kind {
                    elements
                } else {
                    values.map { FormatSyntax(.constant($0), arguments[0].range) }
                }
            return try aggregate(function, ofList: list, at: syntax)
        default:
            let message = "'\(FormatFunction.aggregate(function).name)' needs a to-many relationship or a list"
            throw error(.mismatchedTypes, message, at: arguments[0].range)
        }
    }

    private mutating func aggregate(
        _ function: QueryExpression.Aggregate,
        ofList elements: [FormatSyntax],
        at syntax: FormatSyntax
    ) throws(PredicateFormatError) -> FormatOperand {
        if function == .count { return .constant(.integer(Int64(elements.count))) }
        guard let first = elements.first else {
            throw error(.unsupported, "'\(FormatFunction.aggregate(function).name)' of no values", at: syntax.range)
        }
        if elements.count == 1, function != .average { return try operand(first) }
        let (values, type) = try unified(elements)
        if function == .minimum || function == .maximum {
            guard type.isOrdered, type != .attribute(.uint64) else {
                let message =
                    "'\(FormatFunction.aggregate(function).name)' of \(type.kindDescription) cannot be computed by a store"
                throw error(.mismatchedTypes, message, at: syntax.range)
            }
            return .value(.function(function == .minimum ? .minimum : .maximum, values), type)
        }
        guard type.isNumber, type != .attribute(.uint64) else {
            let message =
                "'\(FormatFunction.aggregate(function).name)' needs numbers, and \(text(of: first)) is \(type.kindDescription)"
            throw error(.mismatchedTypes, message, at: first.range)
        }
        // Adding in pairs keeps the depth logarithmic.
        let sum = Self.sum(values[...])
        if function == .sum { return .value(sum, FormatType(of: sum)) }
        let average = QueryExpression.arithmetic(.divide, sum, .literal(.real(Double(values.count))))
        return .value(average, FormatType(of: average))
    }

    private static func sum(_ values: ArraySlice<QueryExpression>) -> QueryExpression {
        if values.count == 1 { return values[values.startIndex] }
        let middle = values.startIndex + values.count / 2
        return .arithmetic(.add, sum(values[..<middle]), sum(values[middle...]))
    }

    /// Reads collection operators of the members of a collection: an operator that computes a value, or
    /// `@distinctUnionOfObjects` and `@count`.
    func aggregate(
        _ collection: FormatCollection,
        _ operators: [(name: String, range: Range<String.Index>)]
    ) throws(PredicateFormatError) -> FormatOperand {
        let names = operators.map { $0.name.lowercased() }
        if names == ["distinctunionofobjects", "count"] {
            guard collection.levels.count == 1 else {
                let message = "the different values over several to-many relationships cannot be counted"
                throw error(.unsupported, message, at: operators[0].range)
            }
            return .value(collection.aggregated(.distinctCount), .attribute(.int64))
        }
        for (name, range) in operators where name.lowercased().contains("union") {
            throw error(.unsupported, "a store makes no '@\(name)', but counts @distinctUnionOfObjects", at: range)
        }
        if operators.count > 1 {
            throw error(.unsupported, "a key path takes one collection operator", at: operators[1].range)
        }
        return try aggregate(collection, operators[0].name, at: operators[0].range)
    }

    private func aggregate(
        _ collection: FormatCollection,
        _ name: String,
        at range: Range<String.Index>
    ) throws(PredicateFormatError) -> FormatOperand {
        switch name.lowercased() {
        case "count": return .value(collection.aggregated(.count), .attribute(.int64))
        case "sum":
            try requireSummable(collection, name, at: range)
            let sum = collection.aggregated(.sum, elementType: .double)
            // The sum of no values is 0 in key-value coding, and null in a store.
            return .value(.coalescing(sum, .literal(.zero(of: sum.resultType))), FormatType(of: sum))
        case "avg":
            try requireSummable(collection, name, at: range)
            guard collection.levels.count == 1 else {
                throw error(.unsupported, "an average over several to-many relationships", at: range)
            }
            let average = collection.aggregated(.average, elementType: .double)
            return .value(average, FormatType(of: average))
        case "min", "max":
            guard collection.type.isOrdered else {
                let message = "'@\(name)' needs values with an order, and here is \(collection.type.kindDescription)"
                throw error(.mismatchedTypes, message, at: range)
            }
            let aggregate = name.lowercased() == "min" ? QueryExpression.Aggregate.minimum : .maximum
            let result = collection.aggregated(aggregate, elementType: .double)
            return .value(result, FormatType(of: result))
        default:
            let known = ["count", "sum", "avg", "min", "max", "distinctUnionOfObjects"]
            let suggestions = NameSuggestions(for: name, among: known).names.map { "@\($0)" }
            throw error(.unknownName, "there is no collection operator '@\(name)'", suggestions: suggestions, at: range)
        }
    }

    private func requireSummable(
        _ collection: FormatCollection,
        _ name: String,
        at range: Range<String.Index>
    ) throws(PredicateFormatError) {
        // Sums of dates have no meaning.
        let isSummable =
            switch collection.type.attributeType {
            case let type? where name.lowercased() == "avg": type.isNumber || type.averageType == type
            case let type?: type.isNumber || type.sumType == type
            case nil: collection.type.isNumber
            }
        guard isSummable else {
            let message = "'@\(name)' needs numbers, and here is \(collection.type.kindDescription)"
            throw error(.mismatchedTypes, message, at: range)
        }
    }
}

extension Value {
    /// Returns the zero of a type, which is the sum of no values.
    static func zero(of type: AttributeType?) -> Value {
        switch type {
        case .decimal: Decimal(0).storedValue
        case .double: .real(0)
        default: .integer(0)
        }
    }
}
