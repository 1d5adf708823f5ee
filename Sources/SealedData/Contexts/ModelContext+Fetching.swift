import Foundation
import ObjectGraph

extension ModelContext {
    /// The models that fit a descriptor, in its order.
    ///
    /// - Throws: ``SwiftDataError/unsupportedPredicate`` and its like where the descriptor cannot be carried out by the store;
    ///   what the store throws.
    /// - Complexity: one statement; O(1) for each model.
    public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        try graph.fetch(request(for: descriptor), as: T.self)
    }

    /// How many models fit a descriptor, within its limit and offset. No model is read.
    ///
    /// - Throws: as ``fetch(_:)``.
    public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
        try graph.count(request(for: descriptor))
    }

    /// The identifiers of the models that fit a descriptor, in its order.
    ///
    /// - Throws: as ``fetch(_:)``.
    public func fetchIdentifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier]
    {
        try graph.fetchIDs(request(for: descriptor)).map(PersistentIdentifier.init)
    }

    /// The request that a descriptor stands for.
    private func request<T: PersistentModel>(for descriptor: FetchDescriptor<T>) throws -> FetchRequest {
        guard let entity = graph.entity(for: T.self) else { throw SwiftDataError.unknownSchema }
        let reader = PredicateReader(model: graph.model)
        var request = FetchRequest(entity)
        request.predicate = try descriptor.predicate.map { try reader.read($0, entity: entity) }
        request.sort = try descriptor.sortBy.map { try reader.read($0, entity: entity) }
        request.limit = descriptor.fetchLimit
        request.offset = descriptor.fetchOffset ?? 0
        request.includesPendingChanges = descriptor.includePendingChanges
        return request
    }
}
