public import Foundation
public import ObjectGraph

extension FetchRequest {
    /// Reads a descriptor of the objects of the request's entity.
    ///
    /// The parts that most descriptors have are read by inlinable code, which the program specializes for each class:
    /// unspecialized generic code looks up metadata for each property of a descriptor, which takes as long as a small
    /// fetch. This is no initializer, since an initializer would own, and so copy, the descriptor.
    ///
    /// - Throws: ``SwiftDataError/unsupportedPredicate`` or a related error if the store cannot execute the descriptor.
    @inlinable
    mutating func read<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, in model: ManagedObjectModel) throws {
        if let condition = descriptor.predicate {
            try read(condition.expression, on: condition.variable.key, in: model)
        }
        limit = descriptor.fetchLimit
        offset = descriptor.fetchOffset ?? 0
        includesPendingChanges = descriptor.includePendingChanges
        if descriptor.isOrdered || descriptor.search != nil { try readOrder(of: descriptor, in: model) }
        if !descriptor.propertiesToFetch.isEmpty || !descriptor.relationshipKeyPathsForPrefetching.isEmpty {
            try readKeyPaths(of: descriptor)
        }
    }

    @usableFromInline
    mutating func read(
        _ condition: any StandardPredicateExpression<Bool>,
        on variable: PredicateExpressions.VariableID,
        in model: ManagedObjectModel
    ) throws {
        predicate = try PredicateReader(model: model).read(condition, on: variable, entity: entity)
    }

    /// Reads the search and the order.
    @usableFromInline
    mutating func readOrder<T: PersistentModel>(of descriptor: FetchDescriptor<T>, in model: ManagedObjectModel) throws
    {
        let reader = PredicateReader(model: model)
        if let wanted = descriptor.search { search = try wanted.resolved() }
        for key in descriptor.sortExpressions { sort.append(try QuerySort(key, reader, entity: entity)) }
        for key in descriptor.sortBy { sort.append(try reader.read(key, entity: entity)) }
    }

    /// Reads the properties to fetch and the relationships to prefetch.
    @usableFromInline
    mutating func readKeyPaths<T: PersistentModel>(of descriptor: FetchDescriptor<T>) throws {
        if !descriptor.propertiesToFetch.isEmpty {
            propertiesToFetch = try PropertySelection(descriptor.propertiesToFetch, of: T.self, entity: entity)
                .properties
        }
        if !descriptor.relationshipKeyPathsForPrefetching.isEmpty {
            relationshipKeyPathsForPrefetching = try descriptor.relationshipKeyPathsForPrefetching.map {
                try RelationshipPath($0, of: T.self, entity: entity).relationships
            }
        }
    }
}
