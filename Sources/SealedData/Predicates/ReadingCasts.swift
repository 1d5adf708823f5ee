import Foundation
import ObjectGraph

extension PredicateExpressions.TypeCheck: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let object = try context.read(input).cast(to: Desired.self, in: context)
        return .value(object?.presence ?? .bool(object != nil))
    }
}

extension PredicateExpressions.ConditionalCast: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        guard let object = try context.read(input).cast(to: Desired.self, in: context) else {
            return .constant(Constant(Desired?.none))
        }
        return .object(object)
    }
}

extension PredicateExpressions.ForceCast: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        guard let object = try context.read(input).cast(to: Desired.self, in: context) else {
            throw UnsupportedPredicate("a cast to '\(Desired.self)', which always fails")
        }
        if let presence = object.presence { context.require(presence) }
        return .object(object)
    }
}

extension Reading {
    /// Returns the object as an object of another class; nil if it can never be of that class.
    fileprivate func cast<Desired>(to type: Desired.Type, in context: ReadingContext) throws -> ObjectReference? {
        guard case .object(var object) = self, let model = type as? any PersistentModel.Type else {
            throw UnsupportedPredicate("a cast to '\(type)'")
        }
        guard let entity = context.model.entitiesByName[Schema.entityName(for: model)] else {
            throw UnsupportedPredicate("a cast to '\(type)', which is not in the schema")
        }
        if object.entity.isKind(of: entity) { return object }
        guard entity.isKind(of: object.entity) else { return nil }
        let isKind = QueryExpression.isKind(from: object.variable, object.path, of: entity)
        object.entity = entity
        object.requirement = .conjunction([object.requirement, isKind].compactMap(\.self))
        return object
    }
}
