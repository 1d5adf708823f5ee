import Foundation
import ObjectGraph

extension PredicateExpressions.KeyPath: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        switch try context.read(root) {
        case .constant: return try context.constant(self)
        case .object(let object): return try property(of: object, in: context)
        case .members(let members): return try property(of: members)
        case .value(let value): return .value(try property(of: value))
        case .composite(let whole): return try part(of: whole, in: context)
        case .range: throw UnsupportedPredicate("a member of a range")
        }
    }

    private func property(of object: ObjectReference, in context: ReadingContext) throws -> Reading {
        if let slot = PropertyLookup.slot(of: keyPath, from: Root.Output.self), slot < object.entity.slotCount {
            let reading = object.reading(of: object.entity.properties[slot], depth: context.depth)
            // The data of transformed values is not compared: equal values can have different data.
            if case .value(let value) = reading, value.resultType == .data, PropertyKind(of: Output.self) == nil {
                return .composite(value)
            }
            return reading
        }
        guard let model = Root.Output.self as? any PersistentModel.Type else {
            throw UnsupportedPredicate("'\(keyPath)', which is not a property of a model")
        }
        if isIdentifier(keyPath, of: model) { return .object(object) }
        throw UnsupportedPredicate("'\(keyPath)', which is not a persisted property of '\(model)'")
    }

    private func property(of members: Members) throws -> Reading {
        switch kind {
        case .collectionCount: return .value(members.count)
        case .collectionIsEmpty: return .value(.comparing(.equal, members.count, .literal(.integer(0))))
        default: throw UnsupportedPredicate("'\(keyPath)' of a to-many relationship")
        }
    }

    private func part(of whole: QueryExpression, in context: ReadingContext) throws -> Reading {
        if let members = Members(elementsOf: whole, as: Root.Output.self, number: context.depth) {
            switch kind {
            case .collectionCount, .collectionIsEmpty: return try property(of: members)
            case .collectionFirst: return members.element(at: 0, of: whole)
            case .bidirectionalCollectionLast: return members.element(at: -1, of: whole)
            default: break
            }
            if let isCount = isCountOfElements(keyPath, Root.Output.self) {
                return .value(isCount ? members.count : .comparing(.equal, members.count, .literal(.integer(0))))
            }
            throw UnsupportedPredicate("'\(keyPath)' of a '\(Root.Output.self)'")
        }
        guard let part = CompositePart.part(at: keyPath) else {
            throw UnsupportedPredicate(
                "'\(keyPath)', which is not one of the values that a '\(Root.Output.self)' is made of"
            )
        }
        return .part(part.names.map(ComponentKey.name), of: whole, type: part.type)
    }

    private func property(of value: QueryExpression) throws -> QueryExpression {
        let keyPath: AnyKeyPath = keyPath
        switch keyPath {
        case \String.count, \Data.count: return .function(.length, [value])
        case \String.isEmpty: return .comparing(.equal, value, .literal(.text("")))
        case \Data.isEmpty: return .comparing(.equal, value, .literal(.blob(Data())))
        case \URL.absoluteString, \Date.timeIntervalSinceReferenceDate: return value
        case \Date.timeIntervalSince1970:
            return .arithmetic(.add, value, .literal(.real(Date.timeIntervalBetween1970AndReferenceDate)))
        default: break
        }
        if let type = Root.Output.self as? any RawRepresentable.Type, isRawValue(keyPath, of: type) { return value }
        throw UnsupportedPredicate("'\(keyPath)' of a '\(Root.Output.self)'")
    }
}

/// Returns whether a key path leads to a model's identifier.
func isIdentifier<Model: PersistentModel>(_ keyPath: AnyKeyPath, of model: Model.Type) -> Bool {
    // Without the type, the second key path would lead to the requirement of the protocol Identifiable, which is not
    // equal.
    if keyPath == \Model.persistentModelID || keyPath == (\Model.id as KeyPath<Model, PersistentIdentifier>) {
        return true
    }
    return keyPath == \Model.id && PropertyLookup.properties(of: model).slot(named: "id") == nil
}

/// Returns whether a key path leads to the raw value. The key path of `rawValue` of an enum does not equal the key path
/// of the protocol's requirement: the key path is identified by its values for all known cases.
private func isRawValue<Raw: RawRepresentable>(_ keyPath: AnyKeyPath, of type: Raw.Type) -> Bool {
    if keyPath == \Raw.rawValue { return true }
    guard let keyPath = keyPath as? KeyPath<Raw, Raw.RawValue> else { return false }
    let samples = type.samples.values
    return !samples.isEmpty
        && samples.allSatisfy { queryLiteral(of: $0[keyPath: keyPath]) == queryLiteral(of: $0.rawValue) }
}

extension ObjectReference {
    /// Returns the reading of a property of the object.
    ///
    /// - Parameter depth: The number of the variable that a closure over members binds.
    func reading(of property: Property, depth: Int) -> Reading {
        let path = path.isEmpty ? [property] : path + [property]
        switch property {
        case .attribute(let attribute):
            let value = QueryExpression.path(from: variable, path)
            return attribute.type == .composite ? .composite(value) : .value(value)
        case .relationship(let relationship) where relationship.isToMany:
            return .members(
                Members(
                    source: .members(from: variable, path),
                    member: .object(relationship.destination),
                    number: depth
                )
            )
        case .relationship(let relationship):
            var destination = ObjectReference(variable: variable, entity: relationship.destination)
            destination.path = path
            return .object(destination)
        }
    }
}
