import ObjectGraph

/// Rows of snapshots.
extension DataStoreAdapter {
    /// Returns the rows of snapshots, one for each object. Snapshots of other entities are ignored.
    ///
    /// - Parameter inOrder: Whether to keep the order of the snapshots. Otherwise the rows are sorted by key, so that
    ///   their order is deterministic.
    func rows(of snapshots: [DefaultSnapshot], _ entity: Entity, inOrder: Bool) throws -> RowBatch {
        var keyed: [(key: Int64, snapshot: DefaultSnapshot)] = []
        var seen: Set<Int64> = []
        for snapshot in snapshots where isOfEntity(snapshot.persistentIdentifier, entity) {
            let key = primaryKeys.key(for: snapshot.persistentIdentifier, in: entity)
            if seen.insert(key).inserted { keyed.append((key, snapshot)) }
        }
        if !inOrder { keyed.sort { $0.key < $1.key } }
        var rows = RowBatchBuilder()
        for (key, snapshot) in keyed { try append(snapshot, key, to: &rows) }
        return rows.finish()
    }

    private func append(_ snapshot: DefaultSnapshot, _ key: Int64, to rows: inout RowBatchBuilder) throws {
        guard let entity = model.entitiesByName[snapshot.persistentIdentifier.entityName] else { return }
        let values = try entity.properties.map { property -> Value in
            switch property {
            case .attribute(let attribute): return try snapshot.value(of: attribute)
            case .relationship(let relationship):
                guard !relationship.isToMany, let destination = try snapshot.destinations(of: relationship)?.first,
                    let key = self.key(of: destination, along: relationship, from: snapshot)
                else { return .null }
                return .integer(key)
            }
        }
        rows.begin(
            key: key,
            version: rowVersions.version(of: key, values),
            entity: entity.index,
            slotCount: entity.slotCount
        )
        for (slot, value) in values.enumerated() { rows.set(value, at: slot) }
    }

    /// Returns the key of a relationship's destination; nil if its identifier is not permanent. The identifiers of a
    /// store that assigns none to its models are temporary ones.
    func key(
        of destination: PersistentIdentifier,
        along relationship: Relationship,
        from snapshot: DefaultSnapshot
    ) -> Int64? {
        guard destination.storeIdentifier != nil || snapshot.persistentIdentifier.storeIdentifier == nil,
            isOfEntity(destination, relationship.destination)
        else { return nil }
        return primaryKeys.key(for: destination, in: relationship.destination)
    }
}
