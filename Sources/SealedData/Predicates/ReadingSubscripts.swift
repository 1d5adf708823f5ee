import Foundation
import ObjectGraph

extension PredicateExpressions.CollectionIndexSubscript: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let (whole, index) = (try context.read(wrapped), try context.read(index))
        if whole.isConstant, index.isConstant { return try context.constant(self) }
        guard case .composite(let list) = whole, case .constant(let constant) = index,
            let position = constant.value as? Int, position >= 0,
            let members = Members(elementsOf: list, as: Wrapped.Output.self, number: context.depth)
        else { throw UnsupportedPredicate("an element of a '\(Wrapped.Output.self)' by its index") }
        // Where Swift would fail since there are fewer elements, the comparison around is false.
        context.require(.comparing(.greater, members.count, .literal(.integer(Int64(position)))))
        return members.element(at: position, of: list)
    }
}

extension PredicateExpressions.DictionaryKeySubscript: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let (whole, key) = (try context.read(wrapped), try context.read(key))
        if whole.isConstant, key.isConstant { return try context.constant(self) }
        return try dictionaryValue(key, of: whole, as: Wrapped.Output.self)
    }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let (whole, key, otherwise) = (try context.read(wrapped), try context.read(key), try context.read(self.default))
        if whole.isConstant, key.isConstant, otherwise.isConstant { return try context.constant(self) }
        let part = "a value of a dictionary or another one"
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
