// The registered objects with references to deleted objects: the store clears their references, but their rows in
// memory still contain the keys.

extension ObjectLoader {
    /// Calls `body` with the registered, saved objects that have a relationship which could lead to one of the
    /// destinations.
    ///
    /// - Parameter body: Called with an object, such a relationship, and the keys of the destinations.
    func forEachSource(
        of destinations: [any GraphObject],
        _ body: (any GraphObject, Relationship, Set<Int64>) -> Void
    ) {
        guard !destinations.isEmpty else { return }
        let keysByRoot = Dictionary(grouping: destinations, by: \.entity.rootIndex).mapValues { objects in
            Set(objects.map { $0.state.pointee.key })
        }
        for relationship in identityMap.model.relationships {
            guard let keys = keysByRoot[relationship.destination.rootIndex] else { continue }
            for object in identityMap.objects(of: relationship.source)
            where object.life.isStored {
                body(object, relationship, keys)
            }
        }
    }

    /// Unloads the to-many relationships whose members were read while objects were deleted that are present again:
    /// whether they are members is decided by the store, or by a change.
    func unloadMembers(ofSourcesOf returned: [any GraphObject]) {
        forEachSource(of: returned) { object, relationship, keys in
            guard relationship.isToMany, let members = object.state.pointee.changes?.members(at: relationship.slot),
                members.isLoaded, members.hasStored(among: keys)
            else { return }
            object.unloadMembers(of: relationship)
        }
    }

    /// Unloads the to-many relationships that could lead to ``returnedObjects``, and reloads the rows that contain
    /// their keys. Each adoption of rows ends with a call.
    ///
    /// - Complexity: O(1) without such objects; otherwise O(*n*) in the number of registered objects and of returned
    ///   objects.
    @inline(__always)
    func unloadMembersOfSources() {
        if !returnedObjects.isEmpty { unloadMembersOfReturned() }
    }

    @inline(never)
    private func unloadMembersOfReturned() {
        let returned = returnedObjects
        returnedObjects = []
        // The deletion of these objects has removed them from lists.
        forEachSource(of: returned) { object, relationship, keys in
            guard relationship.isToMany, let members = object.state.pointee.changes?.members(at: relationship.slot)
            else { return }
            for key in members.removed.intersection(keys) { object.forgetChange(of: key, in: relationship) }
        }
        unloadMembers(ofSourcesOf: returned)
        // The save of the deletion has cleared keys in the store. Rows in memory keep these keys for an undo.
        reloadRows(leadingTo: returned)
    }

    /// Reloads the rows with keys of objects that the store no longer has, unless other contexts have changed them.
    ///
    /// - Returns: The to-one relationships that lead to the destinations according to the rows of their objects, and to
    ///   which no change gives another destination.
    @discardableResult
    func reloadRows(leadingTo destinations: [any GraphObject]) -> [(object: any GraphObject, slot: Int, key: Int64)] {
        var found: [(object: any GraphObject, slot: Int, key: Int64)] = []
        forEachSource(of: destinations) { object, relationship, keys in
            guard !relationship.isToMany, let key = object.lastRow?.integer(at: relationship.slot),
                keys.contains(key), object.destinationKey(at: relationship.slot) == key
            else { return }
            found.append((object, relationship.slot, key))
        }
        reload(
            found.map(\.object),
            changedObjects: .takeRowOfSameVersion,
            missingRows: .keepObjects,
            failures: .report
        )
        return found
    }
}
