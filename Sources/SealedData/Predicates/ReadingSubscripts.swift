import Foundation
import ObjectGraph

extension PredicateExpressions.CollectionIndexSubscript: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let (whole, index) = (try context.read(wrapped), try context.read(index))
        if whole.isConstant, index.isConstant { return try context.constantPart(self) }
        guard case .composite(let list) = whole, case .constant(let constant) = index,
            let position = constant.value as? Int, position >= 0,
            let members = Members(elementsOf: list, as: Wrapped.Output.self, number: context.depth)
        else { throw UnsupportedPredicate("an element of a '\(Wrapped.Output.self)' by its index") }
        // If the list has fewer elements, which traps in Swift, the enclosing comparison is false.
        context.require(.comparing(.greater, members.count, .literal(.integer(Int64(position)))))
        return members.element(at: position, of: list)
    }
}

extension PredicateExpressions.CollectionRangeSubscript: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let (whole, range) = (try context.read(wrapped), try context.read(range))
        if whole.isConstant, range.isConstant { return try context.constantPart(self) }
        guard case .composite(let list) = whole, let bounds = range.constantBounds, bounds.lowerBound >= 0,
            let members = Members(elementsOf: list, as: Wrapped.Output.self, number: context.depth)
        else { throw UnsupportedPredicate("a part of a '\(Wrapped.Output.self)'") }
        // If the list has fewer elements, which traps in Swift, the enclosing comparison is false.
        let upper = QueryExpression.literal(.integer(Int64(bounds.upperBound)))
        context.require(.comparing(.greaterOrEqual, members.count, upper))
        return .composite(.function(.slice, [list, .literal(.integer(Int64(bounds.lowerBound))), upper]))
    }
}

extension Reading {
    /// The bounds of a constant half-open range of integers.
    fileprivate var constantBounds: Swift.Range<Int>? {
        switch self {
        case .constant(let constant): return constant.value as? Swift.Range<Int>
        case .range(let range):
            guard case .literal(.integer(let lower))? = range.lower, case .literal(.integer(let upper))? = range.upper,
                !range.includesUpper, lower <= upper
            else { return nil }
            return Int(lower)..<Int(upper)
        default: return nil
        }
    }
}

extension PredicateExpressions.DictionaryKeySubscript: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let (whole, key) = (try context.read(wrapped), try context.read(key))
        if whole.isConstant, key.isConstant { return try context.constant(self) }
        if case .constant(let constant) = whole, let dictionary = constant.value as? any CapturedDictionary {
            return .value(try dictionary.value(for: key))
        }
        return try dictionaryValue(key, of: whole, as: Wrapped.Output.self)
    }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let (whole, key, otherwise) = (try context.read(wrapped), try context.read(key), try context.read(self.default))
        if whole.isConstant, key.isConstant, otherwise.isConstant { return try context.constant(self) }
        let part = "a value of a dictionary or another one"
        if case .constant(let constant) = whole, let dictionary = constant.value as? any CapturedDictionary {
            return .value(.coalescing(try dictionary.value(for: key), try otherwise.expression(for: part)))
        }
        let value = try dictionaryValue(key, of: whole, as: Wrapped.Output.self).expression(for: part)
        return .value(.coalescing(value, try otherwise.expression(for: part)))
    }
}

private func dictionaryValue<Whole>(_ key: Reading, of whole: Reading, as type: Whole.Type) throws -> Reading {
    guard case .composite(let object) = whole, case .constant(let constant) = key,
        let valueType = valueTypeOfObject(type), let attributeType = CompositePart.type(of: valueType)
    else { throw UnsupportedPredicate("a value of a '\(type)' by its key") }
    switch constant.value {
    case let name as String: return .part([.name(name)], of: object, type: attributeType)
    case let number as Int: return .part([.name(String(number))], of: object, type: attributeType)
    default: throw UnsupportedPredicate("a value of a '\(type)' by its key")
    }
}

/// A captured dictionary whose key depends on an object.
private protocol CapturedDictionary {
    /// Returns the value of a key; null if the dictionary has no such key.
    func value(for key: Reading) throws -> QueryExpression
}

extension Dictionary: CapturedDictionary {
    fileprivate func value(for key: Reading) throws -> QueryExpression {
        let part = "a value of a captured dictionary"
        var keys: [ObjectGraph.Value: [ObjectGraph.Value]] = [:]
        for (key, value) in self {
            guard let key = queryLiteral(of: key), let value = queryLiteral(of: value) else {
                throw UnsupportedPredicate("\(part) '[\(Key.self): \(Value.self)]'")
            }
            keys[value, default: []].append(key)
        }
        // Each entry needs several parameters, of which SQLite allows 32,766.
        guard count <= 2000 else { throw UnsupportedPredicate("\(part) of more than 2,000 entries") }
        let entries = keys.map { (value: $0.key, keys: $0.value) }
        return choose(try key.expression(for: part), among: entries[...])
    }

    /// Returns a binary decision tree, whose depth is logarithmic in the size of the dictionary.
    private func choose(
        _ key: QueryExpression,
        among entries: ArraySlice<(value: ObjectGraph.Value, keys: [ObjectGraph.Value])>
    ) -> QueryExpression {
        guard let first = entries.first else { return .literal(.null) }
        if entries.count == 1 {
            return .conditional(.isMember(key, of: first.keys), .literal(first.value), .literal(.null))
        }
        let half = entries.prefix(entries.count / 2)
        return .conditional(
            .isMember(key, of: half.flatMap(\.keys)),
            choose(key, among: half),
            choose(key, among: entries.dropFirst(half.count))
        )
    }
}
