import ObjectGraph

/// The delete rules of a merge.
///
/// The store that made a change set has applied the rules to the relationships that it had. So the deletions of a
/// change set are literal: they clear the references of the common order, whatever the rules of their relationships.
/// The rules are applied in two cases only: to relationships that the common order does not contain, because the store
/// itself has related the objects since, and to objects that the merge deletes by a rule.
extension ChangeSetMerge {
    /// Whether the rules demand nothing that is not decided yet. If they do, the call deletes objects, or lets them
    /// stay.
    mutating func areRulesKept(_ values: Values) throws -> Bool {
        guard !pending.isEmpty else { return true }
        var isKept = true
        for place in Set(deletedByOthers.keys).union(deletedByRules).sorted() {
            if isDeleted(place), try isDenied(place, values) {
                try veto(place)
                isKept = false
            }
        }
        var owners = Set(deletedByOthers.keys).union(deletedByRules).filter(isDeleted).sorted()
        while let owner = owners.popLast() {
            guard isDeleted(owner) else { continue }
            for member in try dependents(of: owner, values) where !isDeleted(member) {
                if vetoed.contains(member) || target(at: member)?.isNew ?? false {
                    try veto(owner)
                } else {
                    // The deletion of an object that the change set does not delete is a conflict, too.
                    if let change = deletedByOthers[owner] { note(change, nil, .deleted) }
                    deleteByRule(member)
                    if try isDenied(member, values) {
                        try veto(member)
                        try veto(owner)
                    } else {
                        owners.append(member)
                    }
                }
                isKept = false
            }
        }
        return isKept
    }

    /// Whether the rule `deny` does not allow to delete an object.
    private mutating func isDenied(_ place: ObjectPlace, _ values: Values) throws -> Bool {
        guard let row = try row(at: place) else { return false }
        for relationship in model.entities[row.entityIndex].relationships where relationship.deleteRule == .deny {
            if try !members(of: relationship, row, values).isEmpty { return true }
        }
        return false
    }

    /// The objects that the rule `cascade` deletes together with an object.
    private mutating func dependents(of place: ObjectPlace, _ values: Values) throws -> [ObjectPlace] {
        guard let row = try row(at: place) else { return [] }
        let isOwnDecision = deletedByOthers[place] == nil
        var found: [ObjectPlace] = []
        for relationship in model.entities[row.entityIndex].relationships where relationship.deleteRule == .cascade {
            // A list is one value: it can have members that its object has lost in the common order.
            if !isOwnDecision, relationship.isToMany, relationship.inverse?.isToMany ?? true { continue }
            found += try members(of: relationship, row, values)
        }
        return found
    }

    /// The remaining objects to which the relationship of a deleted object leads after the save, without relations that
    /// the common order contains.
    private mutating func members(of relationship: Relationship, _ row: Row, _ values: Values) throws -> [ObjectPlace] {
        let owner = ObjectPlace(rootIndex: relationship.source.rootIndex, key: row.key)
        let isOwnDecision = deletedByOthers[owner] == nil
        guard isOwnDecision || mayLead(relationship, from: owner) else { return [] }
        let keys =
            relationship.isToMany
            ? try reading.members(of: relationship, row.key) : [row.integer(at: relationship.slot)]
        var found: [ObjectPlace] = []
        for member in keys.lazy.filter({ $0 != 0 }).map(relationship.destinationPlace) where !isDeleted(member) {
            if try isLeading(relationship, from: owner, to: member, values, isOwnDecision) { found.append(member) }
        }
        return found
    }

    /// Whether a relationship of an object can have members that the common order does not have. If not, the members
    /// need not be read.
    private func mayLead(_ relationship: Relationship, from owner: ObjectPlace) -> Bool {
        guard let inverse = relationship.inverse, !relationship.isCanonicalSide else {
            return pending[owner]?.contains(relationship.slot) ?? false
        }
        return pending.hasChanges(of: inverse)
    }

    /// Whether the relationship of a deleted object leads to another object after the save: because of a change of this
    /// store or, if this store decides on the deletion, because of any change.
    private mutating func isLeading(
        _ relationship: Relationship,
        from owner: ObjectPlace,
        to member: ObjectPlace,
        _ values: Values,
        _ isOwnDecision: Bool
    ) throws -> Bool {
        guard let inverse = relationship.inverse else { return true }
        if !inverse.isToMany {
            // With a new value, the member no longer refers to the deleted object, but to an object that remains.
            guard values[member]?[inverse.slot] == nil else { return false }
            if isOwnDecision { return true }
            let (holder, slot) =
                relationship.isCanonicalSide ? (owner, relationship.slot) : (member, inverse.slot)
            return pending[holder]?.contains(slot) ?? false
        }
        if relationship.isCanonicalSide, inverse !== relationship { return true }
        let isPending = pending[member]?.contains(inverse.slot) ?? false
        guard let target = target(at: member),
            let (property, value) = target.change.values.first(where: { $0.property.slot == inverse.slot })
        else { return isOwnDecision || isPending || inverse === relationship }
        if keepsList(property, target) { return true }
        guard isOwnDecision, case .members(let identifiers) = value else { return false }
        return identifiers.contains { places[$0] == owner }
    }
}

extension Relationship {
    /// Whether change sets contain the members or the destination of this side, and not the members or the destination of the inverse.
    fileprivate var isCanonicalSide: Bool {
        switch placement {
        case .sourceKey: isCanonicalReference
        case .joinTable(let isCanonical): isCanonical
        case .destinationKey: false
        }
    }
}
