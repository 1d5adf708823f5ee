public import Foundation
import ObjectGraph

/// A sort by a computed value, or with a position of nil other than before the smallest value.
///
/// ```swift
/// var descriptor = FetchDescriptor<Trip>()
/// descriptor.sortExpressions = [
///     SortExpression(#Expression<Trip, Int> { $0.legs.count }, order: .reverse),
///     SortExpression(#Expression<Trip, Date?> { $0.endDate }, nils: .last),
/// ]
/// ```
public struct SortExpression<Model: PersistentModel>: Sendable {
    /// A position of nil.
    public enum NilPlacement: Hashable, Sendable {
        case first, last
    }

    let order: SortOrder
    let nils: NilPlacement?
    let comparator: LocalizedTextComparator?
    let read: @Sendable (PredicateReader, Entity) throws -> QueryExpression

    /// Creates a sort by the values of an expression.
    public init<Value: Comparable & Sendable>(_ expression: Expression<Model, Value>, order: SortOrder = .forward) {
        self.init(order, nil, nil) { try rank(of: try $0.read(expression, entity: $1), as: Value.self) }
    }

    /// Creates a sort by the values of an expression.
    ///
    /// - Parameters:
    ///   - expression: The values to sort by.
    ///   - order: The direction.
    ///   - nils: The position of nil, in either direction.
    public init<Value: Comparable & Sendable>(
        _ expression: Expression<Model, Value?>,
        order: SortOrder = .forward,
        nils: NilPlacement
    ) {
        self.init(order, nils, nil) { try rank(of: try $0.read(expression, entity: $1), as: Value.self) }
    }

    /// Creates a sort by the texts of an expression, in an order that follows the user's language.
    ///
    /// - Parameters:
    ///   - expression: The texts to sort by.
    ///   - comparator: The order of the texts, regardless of a direction that the comparator has.
    ///   - order: The direction.
    public init(
        _ expression: Expression<Model, String>,
        comparator: LocalizedTextComparator,
        order: SortOrder = .forward
    ) {
        self.init(order, nil, comparator) { try $0.read(expression, entity: $1) }
    }

    private init(
        _ order: SortOrder,
        _ nils: NilPlacement?,
        _ comparator: LocalizedTextComparator?,
        read: @escaping @Sendable (PredicateReader, Entity) throws -> QueryExpression
    ) {
        self.order = order
        self.nils = nils
        self.comparator = comparator
        self.read = read
    }
}

extension QuerySort {
    /// Returns the sort key of a sort expression.
    ///
    /// - Throws: ``SwiftDataError/unsupportedSortDescriptor``.
    init<Model>(_ sort: SortExpression<Model>, _ reader: PredicateReader, entity: Entity) throws {
        var textOrder = TextOrder.lexical
        if let comparator = sort.comparator {
            guard let order = comparator.textOrder else {
                throw SwiftDataError(.unsupportedSortDescriptor, "sorting by '\(comparator)'")
            }
            textOrder = order
        }
        self.init(
            try sort.read(reader, entity),
            ascending: sort.order == .forward,
            textOrder: textOrder,
            nulls: sort.nils.map { $0 == .first ? .first : .last }
        )
    }
}

/// Returns the expression by which values of a type are sorted.
private func rank<Value>(of value: QueryExpression, as type: Value.Type) throws -> QueryExpression {
    do {
        return try EnumerationOrder.rank(of: value, as: type)
    } catch let part as UnsupportedPredicate {
        throw SwiftDataError(.unsupportedSortDescriptor, part.description)
    }
}
