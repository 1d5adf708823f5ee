// What a parent is to its children: the store that they read from, with the unsaved changes of the parent in it.

extension ManagedObjectContext {
    /// The rows of a child's fetch, with the unsaved changes of the parent in it.
    func rows(forChild request: FetchRequest) throws -> RowBatch {
        processPendingChanges()
        // The parent keeps what it reads up to date, for which it takes complete rows.
        let request = request.readingAllProperties
        if let pending = pendingChanges(for: request) { return try rows(of: fetch(request, with: pending)) }
        let rows = try rows(for: request)
        adoptKnown(rows)
        return rows
    }

    /// The rows of the objects with identifiers, in any order; those that are deleted or do not exist are left out.
    func rows(of ids: [ManagedObjectID]) throws -> RowBatch {
        propagateDeletes()
        try obtainPermanentIDsForAll()
        guard changeCount > 0, let entity = ids.first?.entity else { return try storedRows(of: ids) }
        var changed: [any GraphObject] = []
        var others: [ManagedObjectID] = []
        for id in ids {
            if let object = knownObject(forKey: id.key, of: entity), object.hasChanges {
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
        let rows = try store(for: entity).newValuesForObjects(with: ids, with: self)
        adoptKnown(rows)
        return rows
    }

    /// The members of the same to-many relationship of several objects.
    func members(of relationship: Relationship, ofObjectsWith ids: [ManagedObjectID]) throws -> RelationshipRows {
        propagateDeletes()
        try obtainPermanentIDsForAll()
        let roots = [relationship.source.rootIndex, relationship.destination.rootIndex]
        guard changedEntries.contains(where: { $0.object.hasChanges && roots.contains($0.object.entity.rootIndex) })
        else {
            let result = try store(for: relationship.source)
                .newValues(forRelationship: relationship, forObjectsWith: ids, with: self)
            adoptKnown(result.rows)
            return result
        }
        var result = RelationshipRows()
        var members: [ObjectIdentifier: any GraphObject] = [:]
        // They are held together, so that the members of all of them are loaded at once.
        for owner in objects(with: ids.map(\.key), of: relationship.source) {
            let destinations = owner.memberObjects(at: relationship.slot)
            result.append(owner: owner.state.pointee.key, members: destinations.map { $0.state.pointee.key })
            for destination in destinations { members[ObjectIdentifier(destination)] = destination }
        }
        result.rows = try rows(of: Array(members.values))
        return result
    }

    /// Brings those objects up to date that are here and of which the store has just told the rows.
    private func adoptKnown(_ rows: RowBatch) {
        for row in rows { knownObject(forKey: row.key, of: model.entities[row.entityIndex])?.adopt(refetched: row) }
    }

    /// The rows of objects as they are now, in their order.
    ///
    /// - Throws: ``ObjectGraphError/validation(_:)`` where a value cannot be encoded.
    private func rows(of objects: [any GraphObject]) throws -> RowBatch {
        var rows = RowBatchBuilder()
        for object in objects { try rows.append(object) }
        return rows.finish()
    }
}

extension RowBatchBuilder {
    /// Appends the row that an object would be saved as. Its version is the one that the object was read at.
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
                guard let text = try? value.encodedText() else {
                    throw ObjectGraphError.validation([
                        .init(id: object.managedObjectID, property: property.name, reason: .notEncodable)
                    ])
                }
                set(.text(text), at: slot)
            case .unset, .members, .pending:
                if let row, slot < row.slotCount { copy(slot, of: row) }
            }
        }
    }
}
