// Changes of to-many relationships that no object's row contains.

extension SavePreparation {
    /// A to-many relationship of the objects to save.
    struct ToMany {
        let relationship: Relationship
        let slot: Int
        /// Whether the relationship reports the pairs of a join table.
        let isJoined: Bool
        /// Whether the number of members is limited.
        let isLimited: Bool

        init(_ relationship: Relationship) {
            self.relationship = relationship
            slot = relationship.slot
            isJoined = relationship.placement == .joinTable(isCanonical: true)
            isLimited = relationship.description.minimumCount > 0 || relationship.description.maximumCount > 0
        }
    }

    /// Collects the changes of to-many relationships that the rows of other objects do not contain.
    mutating func collectMemberships(
        _ toManys: [ToMany],
        of object: any GraphObject,
        into request: inout SaveChangesRequest
    ) {
        guard let changes = object.state.pointee.changes else { return }
        for toMany in toManys {
            let (relationship, isJoined) = (toMany.relationship, toMany.isJoined)
            let members = changes.members(at: toMany.slot)
            if toMany.isLimited, members?.isChanged ?? false || object.isInserted { checkCount(relationship, object) }
            guard let members, members.isChanged else { continue }
            if toMany.isLimited, !object.isInserted {
                request.limitedRelationships.append(.init(relationship: relationship, owner: object.keyInStore))
            }
            if isJoined, mergePolicy == .error,
                members.added.contains(where: { isLost($0, of: relationship.destination) })
            {
                report(object.state, relationship.slot, .missingDestination)
            }
            guard isJoined || relationship.isOrdered else { continue }
            let change = SaveChangesRequest.MembershipChange(
                relationship: relationship,
                owner: object.keyInStore,
                added: isJoined ? addedKeys(members, relationship) : [],
                removed: isJoined ? members.removed.filter { $0 > 0 && !members.isAdded($0) }.sorted() : [],
                order: relationship.isOrdered
                    ? permanentKeys(orderedKeys(members, of: relationship, object), relationship) : nil
            )
            if change.added.isEmpty, change.removed.isEmpty, change.order == nil { continue }
            request.memberships.append(change)
        }
    }

    /// Collects the members that left a deleted object before it was deleted, or were inserted again after that, if
    /// only their side of the relationship is stored. Otherwise the store would find that they prevent the deletion, or
    /// must be deleted as well.
    func collectDepartures(
        of state: UnsafeMutablePointer<ObjectState>,
        _ entity: Entity,
        into request: inout SaveChangesRequest
    ) {
        guard let changes = state.pointee.changes else { return }
        for relationship in entity.relationships
        where relationship.placement == .joinTable(isCanonical: true) && !relationship.dropsPairsOfDeleted {
            guard let members = changes.members(at: relationship.slot) else { continue }
            // A cascade has deleted the members with their owner. A member that counts as updated was inserted again.
            let restored = members.keys.filter { key in
                loader.identityMap.object(forKey: key, of: relationship.destination)?.life == .updated
            }
            let removed = members.removed.union(restored).filter { $0 > 0 }
            guard !removed.isEmpty else { continue }
            request.memberships.append(
                .init(
                    relationship: relationship,
                    owner: state.pointee.key,
                    added: [],
                    removed: removed.sorted(),
                    order: nil
                )
            )
        }
    }

    /// The permanent keys of the members to add to the store, ascending. If a stored member was removed and added again
    /// here, another writer may have removed it: it is among the keys if its position is written in any case, or if the
    /// relationship was unloaded since.
    private func addedKeys(_ members: ToManyMembers, _ relationship: Relationship) -> [Int64] {
        var keys = members.added
        if members.isLoaded, !members.removed.isEmpty, !relationship.hasOrderedSide {
            keys.removeAll(where: members.removed.contains)
        }
        keys = permanentKeys(keys, relationship)
        keys.sort()
        return keys
    }

    /// The keys of the members that will be in the store.
    private func permanentKeys(_ keys: some Sequence<Int64>, _ relationship: Relationship) -> [Int64] {
        keys.map { loader.identityMap.permanentKey(for: $0, of: relationship.destination) }.filter { $0 > 0 }
    }

    /// All members in their order, which are loaded if necessary.
    private func orderedKeys(
        _ members: ToManyMembers,
        of relationship: Relationship,
        _ object: any GraphObject
    ) -> [Int64] {
        if !members.isLoaded { loader.loadMembers(of: relationship, for: object) }
        return Array(members.keys)
    }

    private mutating func checkCount(_ relationship: Relationship, _ object: any GraphObject) {
        let count = object.memberObjects(at: relationship.slot).count
        if let reason = relationship.problem(ofMemberCount: count) { report(object.state, relationship.slot, reason) }
    }
}

extension Relationship {
    /// Whether the relationship or its inverse is ordered.
    fileprivate var hasOrderedSide: Bool { isOrdered || inverse?.isOrdered ?? false }

    /// The reason for which an object cannot have a number of members; nil if it is within the limits.
    package func problem(ofMemberCount count: Int) -> ObjectGraphError.ValidationProblem.Reason? {
        if count < description.minimumCount { return .tooFewMembers }
        return description.maximumCount > 0 && count > description.maximumCount ? .tooManyMembers : nil
    }
}

extension SaveChangesRequest.MembershipChange {
    var changesPairs: Bool { !added.isEmpty || !removed.isEmpty }
}
