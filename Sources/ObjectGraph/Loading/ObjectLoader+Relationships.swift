extension ObjectLoader {
    // MARK: Destinations

    /// Fetches the destination of a to-one relationship of `object`, which is not registered yet, and records a
    /// failure; see ``fetchDestination(of:key:from:)``.
    func destination(of relationship: Relationship, key: Int64, from object: any GraphObject) -> (any GraphObject)? {
        let found = reading(for: object, relationship) {
            try fetchDestination(of: relationship, key: key, from: object)
        }
        return found ?? nil
    }

    /// Fetches an object that a relationship of `object` leads to, and that is not registered yet.
    ///
    /// The destinations of the objects that were fetched together with `object` are fetched with it, so that following
    /// a to-one relationship from many objects costs a few statements. The rows do not contain the members of to-many
    /// relationships.
    ///
    /// - Returns: the object; nil if the store has no row of it.
    /// - Throws: errors of the store.
    func fetchDestination(
        of relationship: Relationship,
        key: Int64,
        from object: any GraphObject
    ) throws -> (any GraphObject)? {
        guard key > 0 else { return nil }
        let chunk = relationship.isToMany ? nil : object.neighbours
        let keys = chunk.map { missingDestinations(of: relationship, in: $0, and: key) } ?? [key]
        let parts = try rows(of: relationship.destination, withKeys: keys)
        // The objects must outlive the sweep that registering them may cause.
        let found = withExtendedLifetime(parts.results.map(materializeReferences)) {
            identityMap.destination(forKey: key, of: relationship)
        }
        if let failure = parts.failures.first(where: { $0.element == key }) { throw failure.error }
        return found
    }

    /// The keys of the destinations of rows that are not registered yet, and one more key; each once, in their order.
    private func missingDestinations(of relationship: Relationship, in chunk: RowChunk, and key: Int64) -> [Int64] {
        let table = identityMap.handlers[relationship.destination.index].table
        let isSource = identityMap.model.entities.map { $0.isKind(of: relationship.source) }
        var keys = [key]
        for index in 0..<chunk.rowCount {
            let row = chunk.row(at: index)
            guard isSource[row.entityIndex] else { continue }
            let neighbour = row.integer(at: relationship.slot)
            // Rows with the same destination are mostly adjacent.
            guard neighbour > 0, neighbour != keys[keys.count - 1], !table.contains(neighbour),
                !unreadable.containsRow(neighbour, of: relationship.destination)
            else { continue }
            keys.append(neighbour)
        }
        keys.sort()
        var unique: [Int64] = []
        for key in keys where key != unique.last { unique.append(key) }
        return unique
    }

    // MARK: Members

    /// Loads the members of a to-many relationship of `object`, and of the objects that were fetched together with it.
    ///
    /// - Returns: the members whose rows the store has read in addition to their keys.
    @discardableResult
    func loadMembers(of relationship: Relationship, for object: any GraphObject) -> [AnyObject] {
        var owners = neighboursWithoutMembers(of: relationship, object)
        let key = object.state.pointee.key
        owners[key] = object
        let found = reading(for: object, relationship) {
            let (objects, failures) = try loadMembers(of: relationship, owners)
            if let error = failures[key] { throw error }
            return objects
        }
        return found ?? []
    }

    /// The saved objects that were fetched together with an object and have not loaded their members of a relationship.
    private func neighboursWithoutMembers(
        of relationship: Relationship,
        _ object: any GraphObject
    ) -> [Int64: any GraphObject] {
        guard let chunk = object.neighbours else { return [:] }
        let table = identityMap.handlers[relationship.source.index].table
        var owners: [Int64: any GraphObject] = [:]
        for index in 0..<chunk.rowCount {
            let row = chunk.row(at: index)
            guard identityMap.model.entities[row.entityIndex].isKind(of: relationship.source),
                let found = table.object(forKey: row.key)
            else { continue }
            let owner = identityMap.handlers[found.entity].graphObject(found.object)
            if let members = owner.state.pointee.changes?.members(at: relationship.slot), members.isLoaded { continue }
            if owner.life.canBeFilled, !unreadable.containsOwner(row.key, of: relationship) { owners[row.key] = owner }
        }
        return owners
    }

    /// Loads the members of a to-many relationship of objects, by their keys. Owners whose members cannot be read do not
    /// change.
    ///
    /// - Returns: the members whose rows the store has read in addition to their keys; the errors of these owners.
    /// - Throws: errors of the store that concern all owners.
    func loadMembers(
        of relationship: Relationship,
        _ owners: [Int64: any GraphObject]
    ) throws -> (objects: [AnyObject], failures: [Int64: any Error]) {
        let parts = try readInParts(owners.keys.sorted()[...]) { keys in
            let ids = keys.map { identityMap.id(entity: relationship.source, key: $0) }
            return try stores.members(of: relationship, ofObjectsWith: ids)
        }
        var owners = owners
        var failures: [Int64: any Error] = [:]
        for (key, error) in parts.failures {
            unreadable.addOwner(key, of: relationship)
            owners[key] = nil
            failures[key] = error
        }
        var objects: [AnyObject] = []
        for result in parts.results { objects += load(result, of: relationship, into: &owners) }
        for owner in owners.values { owner.members(of: relationship).load(EmptyCollection()) }
        return (objects, failures)
    }

    /// Loads the members that a store has read, and removes their owners from a list.
    private func load(
        _ result: RelationshipRows,
        of relationship: Relationship,
        into owners: inout [Int64: any GraphObject]
    ) -> [AnyObject] {
        // Filling an object may read members, too.
        let outer = laterRows
        laterRows = []
        let objects = materializeReferences(result.rows)
        let later = laterRows ?? []
        laterRows = outer
        if let inverse = relationship.inverse, !inverse.isToMany {
            for (object, row) in later { object.adoptDestination(at: inverse.slot, of: row) }
        }
        let hasUpdates = (owners.values.first?.managedObjectContext?.changeTracker.updated.count ?? 0) > 0
        for (key, range) in result.owners {
            let members = result.members[range]
            guard let owner = owners.removeValue(forKey: key) else { continue }
            // The delete rules have cleared references, which are set again if the deletion is reverted.
            if hasUpdates, let inverse = relationship.inverse, !inverse.isToMany,
                !owner.state.pointee.flags.contains(.deletePropagated)
            {
                let current = members.filter { key in
                    !(identityMap.object(forKey: key, of: inverse.source)?.hasLeft(owner, along: inverse) ?? false)
                }
                owner.members(of: relationship).load(current)
            } else {
                let stored = owner.members(of: relationship).load(members)
                if !stored.isEmpty { noteStored(stored, in: relationship, of: key) }
            }
        }
        return objects
    }

    /// Records in the inverse of a many-to-many relationship that the store already has added members. Otherwise, if
    /// another writer removed the members, only the inverse would add them again.
    private func noteStored(_ members: Set<Int64>, in relationship: Relationship, of owner: Int64) {
        guard let inverse = relationship.inverse, inverse.isToMany else { return }
        for member in members {
            identityMap.object(forKey: member, of: inverse.source)?.state.pointee.changes?
                .members(at: inverse.slot)?.noteStored(owner)
        }
    }

    // MARK: Unloading

    /// Unloads the to-many relationships to which unsaved references of objects do not lead, although the rows of the
    /// objects do: without the references, the objects are members.
    func unloadMembers(concealedBy objects: [any GraphObject]) {
        for object in objects {
            guard let row = object.state.pointee.row else { continue }
            for relationship in object.entity.relationships where object.hasUnsavedReference(along: relationship) {
                for list in relationship.lists { unloadMembers(of: list, owner: row.integer(at: relationship.slot)) }
            }
        }
    }

    /// Unloads the to-many relationships of which the object of a row is a member, according to the row.
    func unloadMembers(namedBy row: Row) {
        for relationship in identityMap.model.entities[row.entityIndex].relationships where !relationship.isToMany {
            for list in relationship.lists { unloadMembers(of: list, owner: row.integer(at: relationship.slot)) }
        }
    }

    /// Unloads a to-many relationship of the object with a key.
    func unloadMembers(of relationship: Relationship, owner key: Int64) {
        guard key > 0 else { return }
        identityMap.object(forKey: key, of: relationship.source)?.unloadMembers(of: relationship)
    }

    /// Unloads a to-many relationship of all objects.
    func unloadMembers(of relationship: Relationship) {
        for object in identityMap.objects(of: relationship.source) { object.unloadMembers(of: relationship) }
    }
}

extension GraphObject {
    /// Whether the unsaved reference of the object leads to another owner, or to none: another writer has made the
    /// object a member of `owner`, but in this context it is none.
    func hasLeft(_ owner: any GraphObject, along relationship: Relationship) -> Bool {
        hasUnsavedReference(along: relationship)
            && destinationKey(at: relationship.slot) != owner.state.pointee.key
    }

    /// Whether the destination of a to-one relationship is not saved yet.
    fileprivate func hasUnsavedReference(along relationship: Relationship) -> Bool {
        guard !relationship.isToMany, let changes = state.pointee.changes else { return false }
        return !changes[relationship.slot].isUnset
    }
}
