public import Foundation
public import ObjectGraph

extension ModelContext {
    /// Returns the models that match a descriptor, in its order.
    ///
    /// - Throws: ``SwiftDataError/unsupportedPredicate`` or a related error if the store cannot execute the descriptor;
    ///   `ObjectGraphError.unreadable` if values could not be read since the last fetch, once for each failure (see
    ///   ``readFailures``); errors of the store.
    /// - Complexity: one statement; O(1) for each model.
    @inlinable
    public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        if descriptor.allowsInMemoryEvaluation, let models = try evaluatedInMemory(descriptor) { return models }
        return try graph.fetch(request(for: descriptor), as: T.self)
    }

    /// Returns the number of models that match a descriptor, within its limit and offset, without reading models.
    ///
    /// - Throws: as ``fetch(_:)``.
    public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
        try evaluatedInMemory(descriptor)?.count ?? graph.count(request(for: descriptor))
    }

    /// Returns the identifiers of the models that match a descriptor, in its order.
    ///
    /// - Throws: as ``fetch(_:)``.
    public func fetchIdentifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier]
    {
        if let models = try evaluatedInMemory(descriptor) { return models.map(\.persistentModelID) }
        return try graph.fetchIDs(request(for: descriptor)).map(PersistentIdentifier.init)
    }

    /// Returns the models that match a descriptor, in its order. Accessing a model reads its batch of `batchSize`
    /// models.
    ///
    /// The call determines the set of models. A model that is deleted before its batch is read has no values.
    ///
    /// - Precondition: `batchSize` is positive.
    /// - Throws: as ``fetch(_:)``.
    public func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>,
        batchSize: Int
    ) throws -> FetchResultsCollection<T> {
        if let models = try evaluatedInMemory(descriptor) { return FetchResultsCollection(models) }
        return FetchResultsCollection(try graph.fetch(request(for: descriptor), batchSize: batchSize), in: self)
    }

    /// Returns the identifiers of the models that match a descriptor, in its order.
    ///
    /// - Throws: as ``fetch(_:)``.
    public func fetchIdentifiers<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>,
        batchSize: Int
    ) throws -> FetchResultsCollection<PersistentIdentifier> {
        FetchResultsCollection(try fetchIdentifiers(descriptor))
    }

    /// Calls a function with each model that matches a descriptor, in its order and in bounded memory.
    ///
    /// The set of models is determined at the beginning, so that `block` may change, insert, delete and save models. It
    /// is not called with models that were deleted before their turn. The context releases the models of a batch when
    /// the batch ends, except models that are referenced elsewhere or have unsaved changes.
    ///
    /// - Parameters:
    ///   - descriptor: The models.
    ///   - batchSize: The number of models to read at once.
    ///   - allowEscapingMutations: Whether models may remain changed and unsaved when their batch ends. Otherwise
    ///     their changes are saved with the batch, so that memory stays bounded.
    ///   - block: The function.
    /// - Precondition: `batchSize` is positive.
    /// - Throws: as ``fetch(_:)`` and ``save()``; errors of `block`, which end the enumeration.
    public func enumerate<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>,
        batchSize: Int = 5000,
        allowEscapingMutations: Bool = false,
        block: (T) throws -> Void
    ) throws {
        if let models = try evaluatedInMemory(descriptor) {
            for model in models where !model.isObjectDeleted { try block(model) }
            if !allowEscapingMutations, hasChanges { try save() }
            return
        }
        try graph.enumerate(request(for: descriptor), batchSize: batchSize) { (models: [T]) in
            for model in models where !model.isObjectDeleted { try block(model) }
            if !allowEscapingMutations, hasChanges { try save() }
        }
    }

    /// Deletes all models of a class that fulfil a predicate with the next save, and applies the delete rules. The
    /// predicate is evaluated on unsaved changes, too: changed models and new models that fulfil it are deleted.
    ///
    /// - Parameters:
    ///   - model: The class.
    ///   - predicate: The condition; nil deletes all.
    ///   - includeSubclasses: Whether models of subclasses are deleted, too.
    /// - Throws: as ``fetch(_:)``.
    public func delete<T: PersistentModel>(
        model: T.Type,
        where predicate: Predicate<T>? = nil,
        includeSubclasses: Bool = true
    ) throws {
        var request = try request(for: FetchDescriptor<T>(predicate: predicate))
        request.includesSubentities = includeSubclasses
        for model in try graph.fetch(request, as: T.self) { graph.delete(model) }
    }

    /// Returns the fetch request for a descriptor.
    @inlinable
    func request<T: PersistentModel>(for descriptor: FetchDescriptor<T>) throws -> FetchRequest {
        guard let entity = graph.entity(for: T.self) else { throw SwiftDataError(classOutsideSchema: T.self) }
        var request = FetchRequest(entity)
        try request.read(descriptor, in: graph.model)
        if hasDataStores { note(descriptor, in: &request) }
        return request
    }

    /// Stores the descriptor in its request. Only custom stores use it.
    @usableFromInline
    func note<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, in request: inout FetchRequest) {
        request.origin = descriptor
    }
}
