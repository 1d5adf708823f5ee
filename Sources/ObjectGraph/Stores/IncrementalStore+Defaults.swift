extension IncrementalStore {
    /// Returns the options unchanged.
    public static func secured(_ options: [String: any Sendable]) -> [String: any Sendable] { options }

    /// Returns the description unchanged: the store is opened when it is loaded.
    public static func prepared(
        _ description: PersistentStoreDescription,
        for model: ManagedObjectModel
    ) throws -> PersistentStoreDescription {
        description
    }

    /// Does nothing: the store has no resources to release.
    public func close() throws {}

    // MARK: Reading

    /// Fetches rows, and returns their identifiers.
    public func execute(
        _ request: ObjectIDFetchRequest,
        with context: ManagedObjectContext?
    ) throws -> [ManagedObjectID] {
        let entities = request.objects.entity.family
        return try execute(request.objects, with: context).map { row in
            let entity = entities.first { $0.index == row.entityIndex } ?? request.objects.entity
            return ManagedObjectID(entity: entity, storeUUID: metadata.uuid, key: row.key)
        }
    }

    /// Fetches identifiers, and counts them.
    public func execute(_ request: CountRequest, with context: ManagedObjectContext?) throws -> Int {
        try execute(ObjectIDFetchRequest(request.objects), with: context).count
    }

    /// - Throws: ``ObjectGraphError/unsupportedRequest(storeType:request:)``.
    public func execute(
        _ request: DictionaryFetchRequest,
        with context: ManagedObjectContext?
    ) throws -> DictionaryResults {
        throw unsupported(request)
    }

    /// - Throws: ``ObjectGraphError/unsupportedRequest(storeType:request:)``.
    public func execute(
        _ request: FullTextMatchRequest,
        with context: ManagedObjectContext?
    ) throws -> [StoredFullTextMatch] {
        throw unsupported(request)
    }

    /// - Throws: ``ObjectGraphError/unsupportedRequest(storeType:request:)``.
    public func execute(_ request: QueryPlanRequest, with context: ManagedObjectContext?) throws -> QueryPlan {
        throw unsupported(request)
    }

    /// Runs `reads` to its end, without reports.
    public func monitoring<R>(_ monitor: RequestMonitor, _ reads: () throws -> R) throws -> R { try reads() }

    // MARK: Writing

    /// - Throws: ``ObjectGraphError/unsupportedRequest(storeType:request:)``.
    public func execute(_ request: BatchInsertion, with context: ManagedObjectContext?) throws -> BatchChanges {
        throw unsupported(request)
    }

    /// - Throws: ``ObjectGraphError/unsupportedRequest(storeType:request:)``.
    public func execute(_ request: BatchUpdateRequest, with context: ManagedObjectContext?) throws -> BatchChanges {
        throw unsupported(request)
    }

    /// - Throws: ``ObjectGraphError/unsupportedRequest(storeType:request:)``.
    public func execute(_ request: BatchDeleteRequest, with context: ManagedObjectContext?) throws -> BatchChanges {
        throw unsupported(request)
    }

    /// - Throws: ``ObjectGraphError/unsupportedRequest(storeType:request:)``.
    public func execute(_ request: EraseRequest, with context: ManagedObjectContext?) throws {
        throw unsupported(request)
    }

    /// False: a save is one request, which writes and commits.
    public var savesInTwoPhases: Bool { false }

    /// Calls `beforeCommit`, and then executes the save as one request.
    public func save(
        _ changes: SaveChangesRequest,
        with context: ManagedObjectContext?,
        beforeCommit: () throws -> Void
    ) throws {
        try beforeCommit()
        try execute(changes, with: context)
    }

    // MARK: Faulting

    /// Reads the objects one by one.
    public func newValuesForObjects(
        with ids: [ManagedObjectID],
        with context: ManagedObjectContext?
    ) throws -> RowBatch {
        var rows = RowBatchBuilder()
        for id in ids {
            guard let node = try newValuesForObject(with: id, with: context) else { continue }
            rows.append(node.row)
        }
        return rows.finish()
    }

    /// - Throws: ``ObjectGraphError/unsupportedRequest(storeType:request:)``.
    public func newValue(
        forRelationship relationship: Relationship,
        forObjectWith id: ManagedObjectID,
        with context: ManagedObjectContext?
    ) throws -> RelationshipValue {
        throw unsupported(relationship)
    }

    /// Reads the relationships of the objects one by one. The result contains no rows of members.
    public func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: ManagedObjectContext?
    ) throws -> RelationshipRows {
        var result = RelationshipRows()
        for id in ids {
            let value = try newValue(forRelationship: relationship, forObjectWith: id, with: context)
            result.append(owner: id.key, members: value.ids.map(\.key))
        }
        return result
    }

    // MARK: Generations

    /// Returns nil: the store has no snapshots.
    public func currentQueryGeneration() throws -> (any QueryGeneration)? { nil }

    /// The error for a request that the store does not implement.
    private func unsupported<Request>(_ request: Request) -> ObjectGraphError {
        .unsupportedRequest(storeType: metadata.type, request: "\(Request.self)")
    }
}
