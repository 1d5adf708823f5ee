import ObjectGraph

extension ChangeSetMerge {
    /// Decides the values of attributes and to-one relationships.
    ///
    /// - Throws: `ExchangeError`.
    mutating func values() throws -> Values {
        while true {
            var isStable = true
            var values: Values = [:]
            for target in targets where !dropped.contains(target.place) && !isDeleted(target.place) {
                guard let own = try self.values(of: target) else {
                    isStable = false
                    continue
                }
                values[target.place] = own
            }
            guard isStable else { continue }
            guard try areOneToOnesUnique(values) else { continue }
            try addInverses(to: &values)
            guard try areRequiredPropertiesSet(values), try areUnique(values) else { continue }
            return values
        }
    }

    /// The values of an object that differ from its row; nil if it was dropped.
    private mutating func values(of target: Target) throws -> [Int: Value]? {
        let row = target.isNew ? nil : try row(at: target.place)
        let difference = pending[target.place]
        var values: [Int: Value] = [:]
        var collisions: Set<Int> = []
        for (property, value) in target.change.values where property.list == nil {
            let slot = property.slot
            let new: Value
            switch value {
            case .attribute(let value): new = value
            case .reference(nil): new = .null
            case .reference(let identifier?):
                if let place = destination(identifier) {
                    new = .integer(place.key)
                } else if row == nil, property.property.isOptional {
                    note(target.change, slot, .clearedReference)
                    new = .null
                } else if row == nil {
                    try drop(target, .missingObject)
                    return nil
                } else if property.property.isOptional, !(difference?.contains(slot) ?? false) {
                    note(target.change, slot, .clearedReference)
                    new = .null
                } else {
                    keep(slot, target)
                    continue
                }
            case .members: continue
            }
            guard let row else {
                if !isKept(slot, target.place) { values[slot] = new }
                continue
            }
            guard !isKept(slot, target.place), !row.holds(new, at: slot) else { continue }
            if difference?.contains(slot) ?? false, try !leadsToDeleted(property, row) { collisions.insert(slot) }
            values[slot] = new
        }
        resolve(collisions, target, &values)
        return values
    }

    /// Decides the properties of an object that both the store and the change set have changed.
    private mutating func resolve(_ collisions: Set<Int>, _ target: Target, _ values: inout [Int: Value]) {
        guard !collisions.isEmpty else { return }
        for slot in collisions {
            if mergePolicy.localWins {
                values[slot] = nil
                note(target.change, slot, .keptLocal)
            } else {
                note(target.change, slot, .tookIncoming)
            }
        }
        guard mergePolicy == .rollback else { return }
        for slot in values.keys { note(target.change, slot, .keptLocal) }
        values = [:]
    }

    /// Whether a to-one relationship leads to an object that the save deletes, so that its value cannot stay.
    private func leadsToDeleted(_ property: ExchangedProperty, _ row: Row) throws -> Bool {
        guard case .reference(let relationship) = property.form, !row.isNull(at: property.slot) else { return false }
        return isDeleted(relationship.destinationPlace(row.integer(at: property.slot)))
    }

    // MARK: One-to-one relationships

    /// Whether no two objects lead to the same destination along a one-to-one relationship. If two do, one of them
    /// keeps its value.
    private mutating func areOneToOnesUnique(_ values: Values) throws -> Bool {
        var values = values
        var isStable = true
        var owners: [OneToOne: ObjectPlace] = [:]
        let changed = targets.filter { values[$0.place] != nil }
        for target in changed {
            for relationship in target.oneToOnes {
                guard let key = values[target.place]?[relationship.slot]?.key else { continue }
                let side = OneToOne(relationship: relationship, destination: relationship.destinationPlace(key))
                if owners[side] == nil {
                    owners[side] = target.place
                } else if keep(relationship.slot, target) {
                    isStable = false
                }
            }
        }
        guard isStable else { return false }
        var rest = changed.flatMap { target in target.oneToOnes.map { (target, $0) } }
        while let (target, relationship) = rest.popLast() {
            guard let new = values[target.place]?[relationship.slot],
                try !isFree(new, relationship, target, values, owners), keep(relationship.slot, target)
            else { continue }
            isStable = false
            // The object that was to get the old partner of this object, and the object that was to lose its partner to
            // this one, depend on the decision. Without this loop, each composition of the save would find one object
            // of the chain.
            values[target.place]?[relationship.slot] = nil
            if let row = try row(at: target.place) {
                let partner = relationship.destinationPlace(row.integer(at: relationship.slot))
                let owner = owners[OneToOne(relationship: relationship, destination: partner)]
                if let next = owner.flatMap(self.target(at:)) { rest.append((next, relationship)) }
            }
            guard let key = new.key, let inverse = relationship.inverse else { continue }
            let destination = relationship.destinationPlace(key)
            owners[OneToOne(relationship: relationship, destination: destination)] = nil
            if let row = try row(at: destination) {
                let holder = inverse.destinationPlace(row.integer(at: inverse.slot))
                if let next = self.target(at: holder) { rest.append((next, relationship)) }
            }
        }
        return isStable
    }

    /// Whether the previous partner of the destination, and the previous partner of the object, can be without a
    /// partner.
    private mutating func isFree(
        _ new: Value,
        _ relationship: Relationship,
        _ target: Target,
        _ values: Values,
        _ owners: [OneToOne: ObjectPlace]
    ) throws -> Bool {
        guard let inverse = relationship.inverse else { return true }
        if let key = new.key, let partner = try row(at: relationship.destinationPlace(key)) {
            let holder = inverse.destinationPlace(partner.integer(at: inverse.slot))
            let isLeft =
                holder.key == 0 || holder == target.place || isDeleted(holder)
                || values[holder]?[relationship.slot] != nil
            if !isLeft {
                let isOwn = isKept(relationship.slot, holder) || pending[holder]?.contains(relationship.slot) ?? false
                if !relationship.isOptional || isOwn && mergePolicy.localWins { return false }
            }
        }
        guard !inverse.isOptional, !target.isNew, let row = try row(at: target.place) else { return true }
        let old = relationship.destinationPlace(row.integer(at: relationship.slot))
        return old.key == 0 || isDeleted(old) || owners[OneToOne(relationship: relationship, destination: old)] != nil
    }

    /// Adds the other sides of one-to-one relationships: the new partners, and the previous partners, which lose their
    /// values.
    private mutating func addInverses(to values: inout Values) throws {
        let decided = values
        for target in targets {
            guard let own = decided[target.place] else { continue }
            for relationship in target.oneToOnes {
                guard let new = own[relationship.slot], let inverse = relationship.inverse else { continue }
                // The change set contains both sides of a relationship that is its own inverse.
                if inverse !== relationship, !target.isNew, let row = try row(at: target.place) {
                    let old = relationship.destinationPlace(row.integer(at: relationship.slot))
                    if old.key != 0, !isDeleted(old), values[old]?[inverse.slot] == nil {
                        values[old, default: [:]][inverse.slot] = .null
                    }
                }
                guard let key = new.key else { continue }
                let destination = relationship.destinationPlace(key)
                if inverse !== relationship, let row = try row(at: destination) {
                    let holder = inverse.destinationPlace(row.integer(at: inverse.slot))
                    if holder.key != 0, holder != target.place, !isDeleted(holder),
                        decided[holder]?[relationship.slot] == nil
                    {
                        values[holder, default: [:]][relationship.slot] = .null
                    }
                } else if !(self.target(at: destination)?.isNew ?? false) {
                    continue
                }
                values[destination, default: [:]][inverse.slot] = .integer(target.place.key)
            }
        }
    }

    /// Whether all new objects have values of their required properties. Objects without them are dropped.
    private mutating func areRequiredPropertiesSet(_ values: Values) throws -> Bool {
        var isStable = true
        for target in targets where target.isNew {
            guard let own = values[target.place] else { continue }
            let isComplete = target.change.entity.properties.allSatisfy { property in
                property.isOptional || !(own[property.slot]?.isNull ?? true)
            }
            guard !isComplete else { continue }
            try drop(target, .missingValue)
            isStable = false
        }
        return isStable
    }
}

/// A destination of a one-to-one relationship.
private struct OneToOne: Hashable {
    let relationship: Relationship
    let destination: ObjectPlace
}

extension ChangeSetMerge.Target {
    /// The one-to-one relationships that change sets contain.
    fileprivate var oneToOnes: [Relationship] {
        change.values.compactMap { property, _ in
            if case .reference(let relationship) = property.form, relationship.isOneToOne { relationship } else { nil }
        }
    }
}

extension Relationship {
    /// The place of the destination with a key.
    func destinationPlace(_ key: Int64) -> ObjectPlace { ObjectPlace(rootIndex: destination.rootIndex, key: key) }
}

extension MergePolicy {
    /// Whether the values of the store take precedence over the values of a change set.
    var localWins: Bool { self == .mergeByPropertyStoreTrump || self == .rollback }
}

extension Value {
    /// The key of a reference; nil for null.
    fileprivate var key: Int64? {
        if case .integer(let key) = self { key } else { nil }
    }
}
