// The save of a child context: its changes become changes of the parent, which the parent's next save writes.

extension ParentStore {
    /// Applies the changes of a child to the parent, as one undo operation. The child's values replace the parent's.
    ///
    /// - Throws: ``SaveConflict`` if the parent has deleted objects that the child changed or deleted;
    ///   ``ObjectGraphError/unreadable(_:)`` if objects to which changes refer cannot be read. In these cases nothing
    ///   changes.
    func accept(_ changes: SaveChangesRequest, from child: ManagedObjectContext) throws {
        context.processPendingChanges()
        let objects = try requiringReadableValues {
            try objectsToChange(by: changes, of: child) + destinations(of: changes)
        }
        // The objects must exist until they are changed; the context retains changed objects.
        withExtendedLifetime(objects) {
            let inserted = changes.inserted.map { (object: insertedObject(for: $0), row: $0) }
            // Rows in memory may refer to objects whose deletion was saved, and that are inserted again.
            let returned = inserted.filter { $0.row.version > 0 }.map(\.object)
            loader.reloadRows(leadingTo: returned)
            for (object, row) in inserted { object.relate(as: row) { _ in true } }
            for (row, update) in zip(changes.updated, changes.updates) { apply(row, update.slots) }
            for change in changes.memberships { apply(change) }
            let deleted = changes.deleted.compactMap { identityMap.object(forKey: $0.key, of: $0.entity) }
            // The child has applied the rule deny.
            for object in deleted { object.leaveRelationships { $0.deleteRule == .deny } }
            // The child has applied the rule cascade: it has deleted the destinations as well, or kept them.
            deletePropagation.delete(deleted, cascading: false)
        }
        context.processPendingChanges()
    }

    /// The objects that a child changed. Unregistered objects are instantiated with the rows that the child read,
    /// unless the child has inserted them and not read them: the parent may have merged such an object into another
    /// object.
    private func objectsToChange(
        by changes: SaveChangesRequest,
        of child: ManagedObjectContext
    ) throws -> [any GraphObject] {
        var missing: [ManagedObjectID] = []
        var objects: [any GraphObject] = []
        var rows: [Row] = []
        func require(_ key: Int64, _ entity: Entity) throws {
            if let known = identityMap.object(forKey: key, of: entity) {
                if known.isObjectDeleted {
                    missing.append(identityMap.id(entity: entity, key: key))
                } else {
                    objects.append(known)
                }
            } else if let row = child.identityMap.object(forKey: key, of: entity)?.state.pointee.row, row.version > 0 {
                rows.append(row)
            } else if let object = try loader.existingObject(with: identityMap.id(entity: entity, key: key)) {
                objects.append(object)
            } else {
                missing.append(identityMap.id(entity: entity, key: key))
            }
        }
        // Keys of objects without a common root may be equal.
        var seen: [Int: Set<Int64>] = [:]
        for row in changes.inserted { seen[model.entities[row.entityIndex].rootIndex, default: []].insert(row.key) }
        for row in changes.updated {
            let entity = model.entities[row.entityIndex]
            seen[entity.rootIndex, default: []].insert(row.key)
            try require(row.key, entity)
        }
        for deletion in changes.deleted { try require(deletion.key, deletion.entity) }
        for change in changes.memberships
        where seen[change.relationship.source.rootIndex, default: []].insert(change.owner).inserted {
            try require(change.owner, change.relationship.source)
        }
        guard missing.isEmpty else { throw SaveConflict.outdated(missing) }
        let rowsByRoot = Dictionary(grouping: rows) { model.entities[$0.entityIndex].rootIndex }
        return objects + rowsByRoot.values.flatMap { loader.materialize(RowBatch(copying: $0)) }
    }

    /// All destinations of to-one relationships of inserted and updated rows that the child has not inserted, fetched
    /// with one request for each entity.
    private func destinations(of changes: SaveChangesRequest) -> [any GraphObject] {
        var inserted: [Int: Set<Int64>] = [:]
        for row in changes.inserted { inserted[model.entities[row.entityIndex].rootIndex, default: []].insert(row.key) }
        var keys: [Int: Set<Int64>] = [:]
        for row in [changes.inserted, changes.updated].joined() {
            for relationship in model.entities[row.entityIndex].relationships where !relationship.isToMany {
                let key = row.integer(at: relationship.slot)
                guard key > 0, !(inserted[relationship.destination.rootIndex]?.contains(key) ?? false) else { continue }
                keys[relationship.destination.index, default: []].insert(key)
            }
        }
        return keys.flatMap { index, keys in loader.objects(with: keys.sorted(), of: model.entities[index]) }
    }

    // MARK: Changes

    /// Returns the inserted object for a row, with its attributes but without relationships; a deleted object is
    /// restored.
    private func insertedObject(for row: Row) -> any GraphObject {
        let handler = identityMap.handlers[row.entityIndex]
        handler.table.reserve(1)
        if let known = identityMap.object(forKey: row.key, of: handler.entity) {
            // The store may not have the object of a fault.
            known.fireFault()
            if known.life.isMissing { changeTracker.unlistUpdate(of: known) }
            if known.life.isDeleted { deletePropagation.restore([known]) }
            if known.hasChanges || known.life.isStored {
                // The child has undone a deletion that the parent has not saved, or has undone as well.
                known.leaveRelationships { relationship in
                    // The rows of the changed members contain all other relationships.
                    if case .joinTable = relationship.placement { true } else { false }
                }
                known.setAttributes(from: row) { _ in true }
            } else {
                known.state.pointee.flags.remove(.deletePropagated)
                known.fillAsNew(from: row)
                changeTracker.onReturn?(known)
                noteInsertion(of: known)
            }
            return known
        }
        var state = ObjectState(handler: handler, key: row.key)
        // Initializers of some classes read constant properties.
        state.row = row
        let object = handler.makeObject(state)
        object.state.pointee.row = nil
        object.fillAsNew(from: row)
        handler.table.insert(object, forKey: row.key, entity: handler.entity.index)
        noteInsertion(of: object)
        return object
    }

    private func noteInsertion(of object: any GraphObject) {
        identityMap.noteDeletion()
        changeTracker.insert(object)
    }

    private func apply(_ row: Row, _ slots: SlotSet) {
        let entity = model.entities[row.entityIndex]
        guard let object = identityMap.object(forKey: row.key, of: entity) else { return }
        object.setAttributes(from: row, where: slots.contains)
        object.relate(as: row, where: slots.contains)
    }

    private func apply(_ change: SaveChangesRequest.MembershipChange) {
        let relationship = change.relationship
        guard let owner = identityMap.object(forKey: change.owner, of: relationship.source) else { return }
        for member in loader.objects(with: change.removed, of: relationship.destination) {
            owner.removeMember(member, at: relationship.slot)
        }
        for member in loader.objects(with: change.added, of: relationship.destination) {
            owner.addMember(member, at: relationship.slot)
        }
        if let order = change.order { owner.restoreOrder(order, of: relationship, storedAt: nil) }
    }
}

extension GraphObject {
    /// Sets the attributes of a new object to the values of a row, and clears its relationships.
    ///
    /// Attributes without a value stay unset, so that they do not replace stored values if the object is merged into
    /// another object with the same unique values. In an object that had a row they are set to null, since an unset
    /// attribute has its last known value.
    fileprivate func fillAsNew(from row: Row) {
        let changes = ensureChanges()
        changes.assignedKey = row.key
        let hadRow = lastRow != nil
        for property in entity.properties {
            changes[property.slot] =
                switch property {
                case .attribute where row.isNull(at: property.slot) && !hadRow: .unset
                case .attribute: .value(row.valueOrNull(at: property.slot))
                case .relationship(let relationship):
                    relationship.isToMany ? .members(ToManyMembers(new: [])) : .value(.null)
                }
        }
    }

    /// Sets the attributes for which `condition` holds to the values of a row.
    fileprivate func setAttributes(from row: Row, where condition: (Int) -> Bool) {
        for case .attribute(let attribute) in entity.properties where condition(attribute.slot) {
            setSlotValue(.value(row.valueOrNull(at: attribute.slot)), at: attribute.slot)
        }
    }

    /// Clears the relationships for which `condition` holds.
    fileprivate func leaveRelationships(where condition: (Relationship) -> Bool) {
        for relationship in entity.relationships where condition(relationship) {
            if relationship.isToMany {
                setMembers([], at: relationship.slot)
            } else {
                setDestination(nil, at: relationship.slot)
            }
        }
    }

    /// Sets the to-one relationships for which `condition` holds to the destinations in a row.
    fileprivate func relate(as row: Row, where condition: (Int) -> Bool) {
        guard let context = state.pointee.handler?.context else { return }
        for relationship in entity.relationships where !relationship.isToMany && condition(relationship.slot) {
            let key = row.integer(at: relationship.slot)
            setDestination(
                context.identityMap.destination(forKey: key, of: relationship),
                at: relationship.slot
            )
        }
    }
}
