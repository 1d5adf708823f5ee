// Children read the saved state with the unsaved changes of the parent.

extension ParentStore {
    /// Returns the rows of a child's fetch, with the unsaved changes of the parent.
    func rows(for request: FetchRequest) throws -> RowBatch {
        context.processPendingChanges()
        // The parent refreshes its registered objects with the rows, which must be complete.
        let request = request.readingAllProperties
        if let pending = fetcher.pendingChanges(for: request) {
            return try rows(of: fetcher.fetch(request, with: pending))
        }
        let rows = try loader.rows(for: request)
        adoptKnown(rows)
        return rows
    }

    /// Returns the rows of the objects with identifiers, in any order, without rows of deleted and missing objects.
    func rows(of ids: [ManagedObjectID]) throws -> RowBatch {
        guard deletePropagation.settledChanges.changeCount > 0, let entity = ids.first?.entity else {
            return try storedRows(of: ids)
        }
        var changed: [any GraphObject] = []
        var others: [ManagedObjectID] = []
        for id in ids {
            if let object = identityMap.object(forKey: id.key, of: entity), object.hasChanges {
                if !object.isObjectDeleted { changed.append(object) }
            } else {
                others.append(id)
            }
        }
        var rows = try rows(of: changed)
        if !others.isEmpty { rows.append(try storedRows(of: others)) }
        return rows
    }

    private func storedRows(of ids: [ManagedObjectID]) throws -> RowBatch {
        guard let entity = ids.first?.entity else { return RowBatch() }
        let rows = try loader.stores.rows(of: entity, with: ids)
        adoptKnown(rows)
        return rows
    }

    /// Returns the members of the same to-many relationship of several objects.
    func members(of relationship: Relationship, ofObjectsWith ids: [ManagedObjectID]) throws -> RelationshipRows {
        let roots = [relationship.source.rootIndex, relationship.destination.rootIndex]
        guard
            deletePropagation.settledChanges.changedEntries.contains(where: {
                $0.object.hasChanges && roots.contains($0.object.entity.rootIndex)
            })
        else {
            let result = try loader.stores.members(of: relationship, ofObjectsWith: ids)
            adoptKnown(result.rows)
            return result
        }
        var result = RelationshipRows()
        var members: [ObjectIdentifier: any GraphObject] = [:]
        // All owners are retained, so that their members are loaded together.
        for owner in loader.objects(with: ids.map(\.key), of: relationship.source) {
            let destinations = owner.memberObjects(at: relationship.slot)
            result.append(owner: owner.state.pointee.key, members: destinations.map { $0.state.pointee.key })
            for destination in destinations { members[ObjectIdentifier(destination)] = destination }
        }
        result.rows = try rows(of: Array(members.values))
        return result
    }

    /// Refreshes the registered objects with rows that were just read.
    private func adoptKnown(_ rows: RowBatch) {
        for row in rows { identityMap.object(for: row)?.adopt(refetched: row) }
        loader.unloadMembersOfSources()
    }

    /// Returns the rows of objects with their current values, in their order.
    ///
    /// - Throws: ``ObjectGraphError/validation(_:)`` if a value cannot be encoded.
    private func rows(of objects: [any GraphObject]) throws -> RowBatch {
        var rows = RowBatchBuilder()
        for object in objects { try rows.append(object) }
        return rows.finish()
    }
}

extension RowBatchBuilder {
    /// Appends the row of an object with its current values, and the version of its row.
    fileprivate mutating func append(_ object: any GraphObject) throws {
        object.fireFault()
        let row = object.state.pointee.row
        let entity = object.entity
        begin(
            key: object.state.pointee.key,
            version: row?.version ?? 0,
            entity: entity.index,
            slotCount: entity.slotCount
        )
        for property in entity.properties {
            let slot = property.slot
            if case .relationship(let relationship) = property {
                if !relationship.isToMany, let destination = object.destination(at: slot) {
                    set(integer: destination.state.pointee.key, at: slot)
                }
                continue
            }
            switch object.state.pointee.changes?[slot] ?? .unset {
            case .value(let value): set(value, at: slot)
            case .composite(let value):
                do {
                    set(.text(try value.encodedText()), at: slot)
                } catch {
                    throw ObjectGraphError.validation([
                        .init(id: object.managedObjectID, property: property.name, reason: .init(ofEncoding: error))
                    ])
                }
            case .unset, .members, .pending:
                if let row, slot < row.slotCount { copy(slot, of: row) }
            }
        }
    }
}
