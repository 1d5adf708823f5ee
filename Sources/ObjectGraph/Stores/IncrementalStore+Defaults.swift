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
        with context: RequestContext
    ) throws -> [ManagedObjectID] {
        let entities = request.objects.entity.family
        return try execute(request.objects, with: context).map { row in
            let entity = entities.first { $0.index == row.entityIndex } ?? request.objects.entity
            return ManagedObjectID(entity: entity, storeUUID: metadata.uuid, key: row.key)
        }
    }

    /// Fetches identifiers, and counts them.
    public func execute(_ request: CountRequest, with context: RequestContext) throws -> Int {
        try execute(ObjectIDFetchRequest(request.objects), with: context).count
    }

    // MARK: Faulting

    /// Reads the objects one by one.
    public func newValuesForObjects(
        with ids: [ManagedObjectID],
        with context: RequestContext
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
        with context: RequestContext
    ) throws -> RelationshipValue {
        throw unsupported(Relationship.self)
    }

    /// Reads the relationships of the objects one by one. The result contains no rows of members.
    public func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: RequestContext
    ) throws -> RelationshipRows {
        var result = RelationshipRows()
        for id in ids {
            let value = try newValue(forRelationship: relationship, forObjectWith: id, with: context)
            result.append(owner: id.key, members: value.ids.map(\.key))
        }
        return result
    }

    // MARK: Capabilities

    /// Returns the store as one with a capability.
    ///
    /// - Throws: ``ObjectGraphError/unsupportedRequest(storeType:request:)`` if it does not have the capability.
    func with<Capability>(_ capability: Capability.Type, for request: Any.Type) throws -> Capability {
        guard let store = self as? Capability else { throw unsupported(request) }
        return store
    }

    /// The error for a request that the store does not implement.
    private func unsupported(_ request: Any) -> ObjectGraphError {
        .unsupportedRequest(storeType: metadata.type, request: "\(request)")
    }
}
