import Guarded
import ObjectGraph

/// Fetching: the store receives the program's descriptor, and the adapter evaluates the parts that the store rejects.
extension DataStoreAdapter {
    /// Returns the rows that match a request, in its order.
    func fetch(_ request: FetchRequest, _ editingState: EditingState) throws -> RowBatch {
        guard request.search == nil else { throw DataStoreError.unsupportedFeature }
        guard let type = target.classes[request.entity.name] else { return RowBatch() }
        return try fetch(request, of: type, editingState)
    }

    private func fetch<T: PersistentModel>(
        _ request: FetchRequest,
        of type: T.Type,
        _ editingState: EditingState
    ) throws -> RowBatch {
        if let descriptor = FetchDescriptor<T>(delegating: request) {
            do {
                let snapshots = try snapshots(of: descriptor, editingState)
                let rows = try rows(of: snapshots, request.entity, inOrder: !request.sort.isEmpty)
                return rows.within(request)
            } catch DataStoreError.preferInMemoryFilter, DataStoreError.preferInMemorySort {
                // The store returns all objects, which are filtered and sorted below.
            }
        }
        let all = try allSnapshots(of: request.entity, editingState)
        let rows = try rows(of: all, request.entity, inOrder: false)
        guard let coordinator = target.coordinator else { throw DataStoreError.unsupportedFeature }
        let scratch = ManagedObjectContext(coordinator: coordinator)
        return try scratch.rows(rows, fitting: request)
    }

    /// Returns the rows of values of a request, computed in memory from all of its objects.
    func fetchDictionaries(
        _ request: DictionaryFetchRequest,
        _ editingState: EditingState
    ) throws -> DictionaryResults {
        let rows = try fetch(request.objects, editingState)
        guard let coordinator = target.coordinator else { throw DataStoreError.unsupportedFeature }
        return try ManagedObjectContext(coordinator: coordinator).results(of: request, from: rows)
    }

    /// Returns the identifiers of the objects that match a request, in its order.
    func fetchIDs(_ request: FetchRequest, _ editingState: EditingState) throws -> [ManagedObjectID] {
        if let type = target.classes[request.entity.name],
            let identifiers = try identifiers(request, of: type, editingState)
        {
            let keys = identifiers.filter { isOfEntity($0, request.entity) }
                .map { primaryKeys.key(for: $0, in: request.entity) }
            return (request.sort.isEmpty ? keys.sorted() : keys).within(request).map { id($0, request.entity) }
        }
        return try fetch(request, editingState).map { id($0.key, model.entities[$0.entityIndex]) }
    }

    private func identifiers<T: PersistentModel>(
        _ request: FetchRequest,
        of type: T.Type,
        _ editingState: EditingState
    ) throws -> [PersistentIdentifier]? {
        guard let descriptor = FetchDescriptor<T>(delegating: request) else { return nil }
        do {
            return try connection.fetchIdentifiers(
                DataStoreFetchRequest(descriptor: descriptor, editingState: editingState)
            )
        } catch DataStoreError.preferInMemoryFilter, DataStoreError.preferInMemorySort {
            return nil
        }
    }

    /// Returns the number of objects that match a request, within its limit and offset.
    func count(_ request: FetchRequest, _ editingState: EditingState) throws -> Int {
        var unlimited = request
        unlimited.sort = []
        unlimited.limit = nil
        unlimited.offset = 0
        guard let type = target.classes[request.entity.name] else { return 0 }
        let total =
            try count(unlimited, of: type, editingState) ?? fetch(unlimited, editingState).count
        return min(max(total - request.offset, 0), request.limit ?? .max)
    }

    private func count<T: PersistentModel>(
        _ request: FetchRequest,
        of type: T.Type,
        _ editingState: EditingState
    ) throws -> Int? {
        guard let descriptor = FetchDescriptor<T>(delegating: request) else { return nil }
        do {
            return try connection.fetchCount(DataStoreFetchRequest(descriptor: descriptor, editingState: editingState))
        } catch DataStoreError.preferInMemoryFilter, DataStoreError.preferInMemorySort {
            return nil
        }
    }

    // MARK: Snapshots

    /// Returns the store's snapshots for a descriptor.
    func snapshots<T: PersistentModel>(
        of descriptor: FetchDescriptor<T>,
        _ editingState: EditingState
    ) throws -> [DefaultSnapshot] {
        let result = try connection.fetch(DataStoreFetchRequest(descriptor: descriptor, editingState: editingState))
        var related: [Int64: DefaultSnapshot] = [:]
        for (identifier, snapshot) in result.related {
            guard let entity = model.entitiesByName[identifier.entityName] else { continue }
            related[primaryKeys.key(for: identifier, in: entity)] = snapshot
        }
        self.related.withLock { $0 = related }
        return result.fetched
    }

    /// Returns the snapshots of all objects of an entity and of its subentities.
    func allSnapshots(of entity: Entity, _ editingState: EditingState) throws -> [DefaultSnapshot] {
        func all<T: PersistentModel>(_ type: T.Type) throws -> [DefaultSnapshot] {
            try snapshots(of: FetchDescriptor<T>(), editingState)
        }
        return try entity.family.flatMap { entity in
            try target.classes[entity.name].map { try all($0) } ?? []
        }
    }

    // MARK: Identifiers

    /// Returns the context's identifier of the object with a key.
    func id(_ key: Int64, _ entity: Entity) -> ManagedObjectID {
        ManagedObjectID(entity: entity, storeUUID: primaryKeys.storeUUID, key: key)
    }

    /// Whether an identifier belongs to an entity or one of its subentities.
    func isOfEntity(_ identifier: PersistentIdentifier, _ entity: Entity) -> Bool {
        model.entitiesByName[identifier.entityName]?.isKind(of: entity) ?? false
    }
}

extension FetchDescriptor {
    /// Makes the descriptor for a request; nil if the request must be evaluated in memory.
    ///
    /// The adapter applies the offset, because a store may ignore it.
    fileprivate init?(delegating request: FetchRequest) {
        // A store fetches one class at a time.
        guard request.search == nil, request.entity.family.count == 1,
            request.includesSubentities || request.entity.subentities.isEmpty
        else {
            return nil
        }
        var descriptor = FetchDescriptor()
        if request.predicate != nil || !request.sort.isEmpty {
            guard let origin = request.origin as? FetchDescriptor<T> else { return nil }
            if request.predicate != nil { descriptor.predicate = origin.predicate }
            if !request.sort.isEmpty {
                descriptor.sortBy = origin.sortBy
                descriptor.sortExpressions = origin.sortExpressions
            }
        }
        if let origin = request.origin as? FetchDescriptor<T> {
            descriptor.includePendingChanges = origin.includePendingChanges
            descriptor.propertiesToFetch = origin.propertiesToFetch
            descriptor.relationshipKeyPathsForPrefetching = origin.relationshipKeyPathsForPrefetching
        }
        descriptor.fetchLimit = request.limit.map { limit in
            let (sum, overflow) = limit.addingReportingOverflow(request.offset)
            return overflow ? .max : sum
        }
        self = descriptor
    }
}

extension Array {
    /// Returns the elements within a request's offset and limit.
    fileprivate func within(_ request: FetchRequest) -> ArraySlice<Element> {
        dropFirst(request.offset).prefix(request.limit ?? .max)
    }
}

extension RowBatch {
    /// Returns the rows within a request's offset and limit.
    fileprivate func within(_ request: FetchRequest) -> RowBatch {
        if request.offset == 0, request.limit.map({ $0 >= count }) ?? true { return self }
        var result = RowBatchBuilder()
        for row in Array(self).within(request) { result.append(row) }
        return result.finish()
    }
}
