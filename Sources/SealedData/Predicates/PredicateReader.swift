import Foundation
import ObjectGraph

/// The translation of predicates and sort descriptors of model classes into query expressions.
///
/// A predicate is a tree of `PredicateExpressions` nodes whose fields are public. Every supported type of node conforms
/// to ``ReadableExpression``, without conditions on its generic arguments: children are cast one by one, so that the
/// error names the child that cannot be read, instead of rejecting the whole tree. The result of a node is a
/// ``Reading``; the variables and requirements around it are in a ``ReadingContext``.
struct PredicateReader {
    /// The model of the store.
    let model: ManagedObjectModel

    /// Reads a condition on the objects of an entity.
    ///
    /// - Throws: ``SwiftDataError/unsupportedPredicate`` with the part that cannot be read.
    func read<T: PersistentModel>(_ predicate: Predicate<T>, entity: Entity) throws -> QueryExpression {
        try read(predicate.expression, on: predicate.variable.key, entity: entity)
    }

    /// Reads a condition on an object of an entity, to which a variable is bound.
    ///
    /// - Throws: ``SwiftDataError/unsupportedPredicate`` with the part that cannot be read.
    func read(
        _ condition: any StandardPredicateExpression<Bool>,
        on variable: PredicateExpressions.VariableID,
        entity: Entity
    ) throws -> QueryExpression {
        try read(aboutObjectsOf: entity, variable) { try $0.condition(condition).asFilter }
    }

    /// Reads a value that is computed from an object of an entity.
    ///
    /// - Throws: ``SwiftDataError/unsupportedPredicate`` with the part that cannot be read.
    func read<T: PersistentModel, Output>(
        _ expression: Expression<T, Output>,
        entity: Entity
    ) throws -> QueryExpression {
        let value = try read(aboutObjectsOf: entity, expression.variable.key) { try $0.value(expression.expression) }
        return value.typed(as: (PropertyKind.unwrapped(Output.self) as? any StorableValue.Type)?.attributeType)
    }

    private func read(
        aboutObjectsOf entity: Entity,
        _ variable: PredicateExpressions.VariableID,
        _ body: (ReadingContext) throws -> QueryExpression
    ) throws -> QueryExpression {
        do {
            return try body(ReadingContext(model: model, variable: variable, entity: entity))
        } catch let part as UnsupportedPredicate {
            throw SwiftDataError(.unsupportedPredicate, part.description)
        }
    }

    /// Reads a sort descriptor of the objects of an entity.
    ///
    /// - Throws: ``SwiftDataError/unsupportedSortDescriptor`` for a key path that is not persisted, and for a
    ///   comparison that stores do not support.
    func read<T: PersistentModel>(_ sort: SortDescriptor<T>, entity: Entity) throws -> QuerySort {
        do {
            return try QuerySort.reading(sort, entity: entity)
        } catch let part as UnsupportedPredicate {
            throw SwiftDataError(.unsupportedSortDescriptor, part.description)
        }
    }
}
