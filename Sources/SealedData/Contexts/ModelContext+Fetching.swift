public import Foundation
public import ObjectGraph

extension ModelContext {
    /// The models that fit a descriptor, in its order.
    ///
    /// - Throws: ``SwiftDataError/unsupportedPredicate`` and its like where the descriptor cannot be carried out by the store;
    ///   `ObjectGraphError.unreadable` where values could not be read since the last fetch, each failure once (see
    ///   ``readFailures``); what the store throws.
    /// - Complexity: one statement; O(1) for each model.
    @inlinable
    public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        if descriptor.allowsInMemoryEvaluation, let models = try evaluatedInMemory(descriptor) { return models }
        return try graph.fetch(request(for: descriptor), as: T.self)
    }

    /// How many models fit a descriptor, within its limit and offset. No model is read.
    ///
    /// - Throws: as ``fetch(_:)``.
    public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
        try evaluatedInMemory(descriptor)?.count ?? graph.count(request(for: descriptor))
    }

    /// The identifiers of the models that fit a descriptor, in its order.
    ///
    /// - Throws: as ``fetch(_:)``.
    public func fetchIdentifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier]
    {
        if let models = try evaluatedInMemory(descriptor) { return models.map(\.persistentModelID) }
        return try graph.fetchIDs(request(for: descriptor)).map(PersistentIdentifier.init)
    }

    /// The models that fit a descriptor, in its order, read `batchSize` at a time when they are reached.
    ///
    /// Which models there are is settled now; a model that is deleted before it is reached has no values.
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

    /// The identifiers of the models that fit a descriptor, in its order.
    ///
    /// - Throws: as ``fetch(_:)``.
    public func fetchIdentifiers<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>,
        batchSize: Int
    ) throws -> FetchResultsCollection<PersistentIdentifier> {
        FetchResultsCollection(try fetchIdentifiers(descriptor))
    }

    /// Goes through the models that fit a descriptor, in its order and in bounded memory.
    ///
    /// Which models come is settled at the beginning, so that `block` may change, insert, delete and save as it likes. After
    /// its batch a model is let go, unless somebody refers to it or it has unsaved changes.
    ///
    /// - Parameters:
    ///   - descriptor: Which models.
    ///   - batchSize: How many are read at once.
    ///   - allowEscapingMutations: Whether models may stay changed and unsaved when their batch ends. Otherwise their changes
    ///     are saved with it, so that memory stays bounded.
    ///   - block: What to do with each.
    /// - Precondition: `batchSize` is positive.
    /// - Throws: as ``fetch(_:)`` and ``save()``; what `block` throws, which ends the enumeration.
    public func enumerate<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>,
        batchSize: Int = 5000,
        allowEscapingMutations: Bool = false,
        block: (T) throws -> Void
    ) throws {
        if let models = try evaluatedInMemory(descriptor) {
            for model in models { try block(model) }
            if !allowEscapingMutations, hasChanges { try save() }
            return
        }
        try graph.enumerate(request(for: descriptor), batchSize: batchSize) { (models: [T]) in
            for model in models { try block(model) }
            if !allowEscapingMutations, hasChanges { try save() }
        }
    }

    /// Deletes all models of a class that fulfil a predicate with the next save, and carries the deletion on along the delete
    /// rules. Unsaved changes count: what was changed so that it fits is deleted, and new models are too.
    ///
    /// - Parameters:
    ///   - model: The class.
    ///   - predicate: The condition; nil deletes all.
    ///   - includeSubclasses: Whether models of classes that inherit from `model` are deleted, too.
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

    /// The request that a descriptor stands for.
    @inlinable
    func request<T: PersistentModel>(for descriptor: FetchDescriptor<T>) throws -> FetchRequest {
        guard let entity = graph.entity(for: T.self) else { throw SwiftDataError.unknownSchema }
        var request = try FetchRequest(descriptor, of: entity, in: graph.model)
        if hasDataStores { note(descriptor, in: &request) }
        return request
    }

    /// Notes what a request was made of, which only stores of a program's own ask for.
    @usableFromInline
    func note<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, in request: inout FetchRequest) {
        request.origin = descriptor
    }
}

extension FetchRequest {
    /// The request that a descriptor stands for.
    ///
    /// What most descriptors have is read by code that is compiled for each class, in the program: other generic code
    /// looks metadata up for each property of a descriptor, which takes as long as a small fetch.
    ///
    /// - Throws: ``SwiftDataError/unsupportedPredicate`` and its like where the descriptor has no form in a store.
    @inlinable
    init<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, of entity: Entity, in model: ManagedObjectModel) throws {
        self.init(entity)
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

    /// Reads which properties and relationships are to be fetched.
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
