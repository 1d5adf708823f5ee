// How a parent takes in what a child saves: as changes of its own, which the parent's next save writes.

extension ManagedObjectContext {
    /// Makes the changes of a child the context's own, as one operation to undo. The child's values go before the
    /// parent's own.
    ///
    /// - Throws: ``SaveConflict`` where the parent does not have objects any more that the child changed or deleted;
    ///   nothing has changed then.
    func accept(_ changes: SaveChangesRequest, from child: ManagedObjectContext) throws {
        processPendingChanges()
        let objects = try objectsToChange(by: changes, of: child)
        // They must stay until they are changed, and then the context holds them.
        withExtendedLifetime(objects) {
            let inserted = changes.inserted.map { (object: insertedObject(for: $0), row: $0) }
            // Rows in memory may still lead to objects whose deletion was saved, and that come back.
            let returned = inserted.filter { $0.row.version > 0 }.map(\.object)
            readRowsAgain(of: objectsWithRows(leadingTo: returned).map(\.object))
            let destinations = destinations(of: [changes.inserted, changes.updated])
            withExtendedLifetime(destinations) {
                for (object, row) in inserted { object.relate(as: row) { _ in true } }
                for (row, update) in zip(changes.updated, changes.updates) { apply(row, update.slots) }
                for change in changes.memberships { apply(change) }
            }
            let deleted = changes.deleted.compactMap { knownObject(forKey: $0.key, of: $0.entity) }
            // The child has found nothing that would deny it.
            for object in deleted { object.leaveRelationships { $0.deleteRule == .deny } }
            // What else they take along the child has deleted as well, or saved from deletion.
            delete(deleted, cascading: false)
        }
        processPendingChanges()
    }

    /// The objects that a child changed, those that are not here made of the rows that the child read.
    private func objectsToChange(
        by changes: SaveChangesRequest,
        of child: ManagedObjectContext
    ) throws -> [any GraphObject] {
        var missing: [ManagedObjectID] = []
        var objects: [any GraphObject] = []
        var rows: [Row] = []
        func require(_ key: Int64, _ entity: Entity) throws {
            if let known = knownObject(forKey: key, of: entity) {
                if known.isObjectDeleted { missing.append(id(entity: entity, key: key)) } else { objects.append(known) }
            } else if let row = child.knownObject(forKey: key, of: entity)?.state.pointee.row {
                rows.append(row)
            } else if let object = try existingObject(with: id(entity: entity, key: key)) {
                objects.append(object)
            } else {
                missing.append(id(entity: entity, key: key))
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
        return objects + rowsByRoot.values.flatMap { materialize(RowBatch(copying: $0)) }
    }

    /// All objects that to-one relationships of rows lead to, fetched with one request for each entity.
    private func destinations(of batches: [RowBatch]) -> [any GraphObject] {
        var keys: [Int: Set<Int64>] = [:]
        for row in batches.joined() {
            for relationship in model.entities[row.entityIndex].relationships where !relationship.isToMany {
                let key = row.integer(at: relationship.slot)
                if key > 0 { keys[relationship.destination.index, default: []].insert(key) }
            }
        }
        return keys.flatMap { index, keys in objects(with: keys.sorted(), of: model.entities[index]) }
    }

    // MARK: Changes

    /// The new object for a row, with its attributes but without relationships; one that was deleted comes back.
    private func insertedObject(for row: Row) -> any GraphObject {
        let handler = handlers[row.entityIndex]
        handler.table.reserve(1)
        if let known = knownObject(forKey: row.key, of: handler.entity) {
            if known.state.pointee.flags.contains(.deleted) {
                restore([known])
                known.setAttributes(from: row) { _ in true }
            } else {
                known.state.pointee.flags.subtract([.vanished, .deletePropagated])
                known.fillAsNew(from: row)
                noteInsertion(of: known)
            }
            return known
        }
        var state = ObjectState(handler: handler, key: row.key)
        // Some objects keep values as constants, which they read while they are made.
        state.row = row
        let object = handler.makeObject(state)
        object.state.pointee.row = nil
        object.fillAsNew(from: row)
        handler.table.insert(object, forKey: row.key, entity: handler.entity.index)
        noteInsertion(of: object)
        return object
    }

    private func noteInsertion(of object: any GraphObject) {
        deletionStamp &+= 1
        announceChange()
        inserted.add(object)
        recorder?.didInsert(object)
    }

    private func apply(_ row: Row, _ slots: SlotSet) {
        let entity = model.entities[row.entityIndex]
        guard let object = knownObject(forKey: row.key, of: entity) else { return }
        object.setAttributes(from: row, where: slots.contains)
        object.relate(as: row, where: slots.contains)
    }

    private func apply(_ change: SaveChangesRequest.MembershipChange) {
        let relationship = change.relationship
        guard let owner = knownObject(forKey: change.owner, of: relationship.source) else { return }
        for member in objects(with: change.removed, of: relationship.destination) {
            owner.removeMember(member, at: relationship.slot)
        }
        for member in objects(with: change.added, of: relationship.destination) {
            owner.addMember(member, at: relationship.slot)
        }
        if let order = change.order { owner.restoreOrder(order, of: relationship, isStored: false) }
    }
}

extension GraphObject {
    /// Gives a new object the attributes of a row and no relationships.
    fileprivate func fillAsNew(from row: Row) {
        let changes = ensureChanges()
        changes.assignedKey = row.key
        for property in entity.properties {
            changes[property.slot] =
                switch property {
                case .attribute: .value(row.valueOrNull(at: property.slot))
                case .relationship(let relationship):
                    relationship.isToMany ? .members(ToManyMembers(new: [])) : .value(.null)
                }
        }
    }

    /// Sets those attributes that `condition` holds for to what a row says.
    fileprivate func setAttributes(from row: Row, where condition: (Int) -> Bool) {
        for case .attribute(let attribute) in entity.properties where condition(attribute.slot) {
            setSlotValue(.value(row.valueOrNull(at: attribute.slot)), at: attribute.slot)
        }
    }

    /// Makes those relationships that `condition` holds for lead nowhere.
    fileprivate func leaveRelationships(where condition: (Relationship) -> Bool) {
        for relationship in entity.relationships where condition(relationship) {
            if relationship.isToMany {
                setMembers([], at: relationship.slot)
            } else {
                setDestination(nil, at: relationship.slot)
            }
        }
    }

    /// Makes those to-one relationships that `condition` holds for lead where a row says.
    fileprivate func relate(as row: Row, where condition: (Int) -> Bool) {
        guard let context = state.pointee.handler?.context else { return }
        for relationship in entity.relationships where !relationship.isToMany && condition(relationship.slot) {
            let key = row.integer(at: relationship.slot)
            setDestination(
                context.knownDestination(forKey: key, of: relationship),
                at: relationship.slot
            )
        }
    }
}
