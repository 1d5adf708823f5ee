import ObjectGraph

extension ChangeSetMerge {
    /// The save of a merge.
    struct Save {
        var request = SaveChangesRequest()
        /// The relationships with an order, whose members are known when the rest is written.
        var orders: [Order] = []
    }

    /// The order of an object's to-many relationship.
    struct Order {
        let relationship: Relationship
        let owner: Int64
        /// The keys in the order that takes precedence: the order in the store, or the order in the change set.
        let first: [Int64]
        /// The keys in the other order.
        let second: [Int64]
    }

    /// Composes the save from the present decisions.
    ///
    /// - Throws: `ExchangeError`.
    mutating func save() throws -> Save {
        var values = try values()
        while try !areRulesKept(values) { values = try self.values() }
        var save = Save()
        try addRows(values, &save.request)
        for place in Set(deletedByOthers.keys).union(deletedByRules).sorted() where isDeleted(place) {
            guard let row = try row(at: place) else { continue }
            save.request.deleted.append(.init(entity: model.entities[row.entityIndex], key: place.key, row: row))
        }
        try addLists(values, &save)
        try addOrdersOfNewOwners(values, &save)
        return save
    }

    // MARK: Rows

    private mutating func addRows(_ values: Values, _ request: inout SaveChangesRequest) throws {
        var inserted = RowBatchBuilder()
        var updated = RowBatchBuilder()
        let others = values.keys.filter { target(at: $0) == nil }.sorted()
        for place in targets.map(\.place) + others {
            guard let own = values[place] else { continue }
            if let target = target(at: place), target.isNew {
                let entity = target.change.entity
                inserted.begin(key: place.key, version: 1, entity: entity.index, slotCount: entity.slotCount)
                for (slot, value) in own { inserted.set(value, at: slot) }
                continue
            }
            guard !own.isEmpty, let row = try row(at: place) else { continue }
            let (version, entity) = (row.version, model.entities[row.entityIndex])
            updated.begin(key: place.key, version: version &+ 1, entity: entity.index, slotCount: entity.slotCount)
            var slots = SlotSet()
            for slot in 0..<entity.slotCount {
                if let value = own[slot] {
                    updated.set(value, at: slot)
                    slots.insert(slot)
                } else {
                    updated.copy(slot, of: row)
                }
            }
            request.updates.append(.init(previousVersion: version, slots: slots))
        }
        request.inserted = inserted.finish()
        request.updated = updated.finish()
    }

    // MARK: To-many relationships

    private mutating func addLists(_ values: Values, _ save: inout Save) throws {
        for target in targets where values[target.place] != nil {
            for (property, value) in target.change.values {
                guard let relationship = property.list, case .members(let identifiers) = value else { continue }
                let keys = distinct(identifiers.compactMap { destination($0)?.key })
                let present =
                    target.isNew ? [] : try reading.members(of: relationship, target.place.key)
                let isKept = isListKept(property, target, keys, present)
                if case .members = property.form {
                    let kept = isKept ? present + newMembers(of: relationship, target, keys, values) : keys
                    addMembers(relationship, target, kept, present, &save)
                }
                guard relationship.isOrdered else { continue }
                save.orders.append(
                    Order(
                        relationship: relationship,
                        owner: target.place.key,
                        first: isKept ? present : keys,
                        second: isKept ? keys : present
                    )
                )
            }
        }
    }

    /// The members that a list with a shared inverse gets although the list is kept, because the inverse leads to its
    /// object.
    private func newMembers(
        of relationship: Relationship,
        _ target: Target,
        _ keys: [Int64],
        _ values: Values
    ) -> [Int64] {
        guard let inverse = relationship.sharedInverse else { return [] }
        return keys.filter { values[relationship.destinationPlace($0)]?[inverse.slot] == .integer(target.place.key) }
    }

    /// Whether a to-many relationship stays as it is in the store.
    private mutating func isListKept(
        _ property: ExchangedProperty,
        _ target: Target,
        _ keys: [Int64],
        _ present: [Int64]
    ) -> Bool {
        let isOrdered = property.list?.isOrdered ?? false
        let isEqual = isOrdered ? keys == present : Set(keys) == Set(present)
        guard !target.isNew, !isEqual else { return false }
        if keepsList(property, target) {
            note(target.change, property.slot, .keptLocal)
            return true
        }
        if pending[target.place]?.contains(property.slot) ?? false { note(target.change, property.slot, .tookIncoming) }
        return false
    }

    /// Whether a to-many relationship stays as it is in the store if the change set has other members.
    func keepsList(_ property: ExchangedProperty, _ target: Target) -> Bool {
        guard !target.isNew, let difference = pending[target.place] else { return false }
        let isChanged = difference.contains(property.slot)
        return mergePolicy == .rollback ? isChanged || hasConflict(target) : isChanged && mergePolicy.localWins
    }

    private func addMembers(
        _ relationship: Relationship,
        _ target: Target,
        _ keys: [Int64],
        _ present: [Int64],
        _ save: inout Save
    ) {
        let (new, old) = (Set(keys), Set(present))
        let added = new.subtracting(old).sorted()
        let removed = old.subtracting(new).sorted()
        guard !added.isEmpty || !removed.isEmpty else { return }
        save.request.memberships.append(
            .init(relationship: relationship, owner: target.place.key, added: added, removed: removed, order: nil)
        )
    }

    /// Renumbers the members of the owners that existing objects join: these objects still have the positions among the
    /// members of their previous owners.
    private func addOrdersOfNewOwners(_ values: Values, _ save: inout Save) throws {
        struct List: Hashable {
            let relationship: Relationship
            let owner: Int64
        }
        var known = Set(save.orders.map { List(relationship: $0.relationship, owner: $0.owner) })
        for target in targets where !target.isNew {
            guard let own = values[target.place] else { continue }
            for relationship in target.change.entity.relationships {
                guard case .integer(let owner)? = own[relationship.slot], let inverse = relationship.inverse,
                    inverse.isToMany, inverse.isOrdered,
                    known.insert(List(relationship: inverse, owner: owner)).inserted
                else { continue }
                let present = try reading.members(of: inverse, owner)
                save.orders.append(Order(relationship: inverse, owner: owner, first: present, second: []))
            }
        }
    }

    private func distinct(_ keys: [Int64]) -> [Int64] {
        var seen: Set<Int64> = []
        return keys.filter { seen.insert($0).inserted }
    }

    // MARK: Conflicts of the save

    /// Decides what prevents the store from writing the save.
    ///
    /// - Throws: `ExchangeError` if no decision is left.
    mutating func resolve(_ conflict: SaveConflict) throws {
        switch conflict {
        case .remainingReferences(let references):
            var isDecided = false
            for reference in references where try resolve(reference) { isDecided = true }
            guard isDecided else { throw IncomingChanges.error(.inconsistentRelationship) }
        case .lostDestinations(let references):
            var isDecided = false
            for reference in references where try keepPartner(of: reference.source) { isDecided = true }
            guard isDecided else { throw IncomingChanges.error(.inconsistentRelationship) }
        case .outdated, .memberCounts: throw IncomingChanges.error(.inconsistentRelationship)
        case .missingDestinations: throw IncomingChanges.error(.missingObject)
        case .notUnique(let entity, _): throw IncomingChanges.error(.notUnique, nil, model.entitiesByName[entity])
        }
    }

    /// Lets an object stay to which a required reference leads.
    ///
    /// - Returns: whether this is a new decision.
    private mutating func resolve(_ reference: RemainingReference) throws -> Bool {
        let deleted = ObjectPlace(reference.deleted)
        guard isDeleted(deleted) else { return false }
        try veto(deleted)
        return true
    }

    /// Keeps the values of one-to-one relationships that would take a required partner from an object.
    ///
    /// - Returns: whether this is a new decision.
    private mutating func keepPartner(of id: ManagedObjectID) throws -> Bool {
        let place = ObjectPlace(id)
        guard let row = try row(at: place) else { return false }
        var isDecided = false
        for relationship in model.entities[row.entityIndex].relationships where relationship.isOneToOne {
            let partner = relationship.destinationPlace(row.integer(at: relationship.slot))
            for target in targets {
                for (property, value) in target.change.values {
                    guard case .reference(let other) = property.form, other.isOneToOne else { continue }
                    let isTaking: Bool
                    if case .reference(let identifier?) = value {
                        isTaking = other === relationship && destination(identifier) == partner
                    } else {
                        isTaking = false
                    }
                    let isLeaving = other === relationship.inverse && target.place == partner
                    if isTaking || isLeaving, keep(property.slot, target) { isDecided = true }
                }
            }
        }
        return isDecided
    }
}

extension ChangeSetMerge.Order {
    /// The members in the order.
    func sorted(_ members: [Int64]) -> [Int64] {
        var rest = Set(members)
        var sorted = first.filter { rest.remove($0) != nil }
        sorted += second.filter { rest.remove($0) != nil }
        return sorted + members.filter { rest.contains($0) }
    }
}
