import Foundation

/// Merges several objects with the same values of unique properties into one object, according to the context's merge
/// policy: a new object that collides with another object becomes an update of it.
///
/// The changes are made to the objects themselves, including relationships and their inverses, so that the following
/// save needs no special cases.
struct UniquenessResolution {
    private let mergePolicy: MergePolicy
    private let loader: ObjectLoader
    private let deletePropagation: DeletePropagation
    private var identityMap: IdentityMap { loader.identityMap }
    private var changeTracker: ChangeTracker { deletePropagation.changeTracker }
    private var conflicts: [ConstraintConflict] = []
    private var wasResolved = false
    private var absorbed: [Absorbed] = []
    /// The objects into which other objects were merged, by the ``Entity/index`` of the root entity and the key of the
    /// merged object: one-way relationships still lead to the merged objects.
    private var survivors: [Int: [Int64: any GraphObject]] = [:]

    /// A new object that was merged into another object.
    private struct Absorbed {
        let object: any GraphObject
        /// Weak: nil if the survivor has no other references.
        weak var survivor: (any GraphObject)?
    }

    init(_ mergePolicy: MergePolicy, _ loader: ObjectLoader, _ deletePropagation: DeletePropagation) {
        self.mergePolicy = mergePolicy
        self.loader = loader
        self.deletePropagation = deletePropagation
    }

    /// Resolves all collisions of changed objects with each other and with saved objects.
    ///
    /// - Returns: whether there were collisions.
    /// - Throws: ``ObjectGraphError/notUnique(_:)`` with all collisions that the policy does not resolve: collisions of
    ///   objects of different entities and, under ``MergePolicy/error``, all collisions; errors of the stores.
    mutating func resolve() throws -> Bool {
        wasResolved = false
        conflicts = []
        survivors = [:]
        for entity in identityMap.model.entities {
            for slots in entity.uniquenessConstraints
            where !(entity.superentity?.uniquenessConstraints.contains(slots) ?? false) {
                try resolve(Constraint(entity: entity, slots: slots))
            }
        }
        guard conflicts.isEmpty else { throw ObjectGraphError.notUnique(conflicts) }
        return wasResolved
    }

    // MARK: Finding

    private struct Constraint {
        let entity: Entity
        let slots: [Int]

        var properties: [String] { slots.map { entity.properties[$0].name } }

        /// The values of an object, in the form of a row; nil if one of them is null, which never collides.
        func values(of object: any GraphObject) -> UniqueValues? {
            values { slot in
                let value = object._$storedValue(at: slot)
                guard case .uuid(let uuid) = value else { return value }
                return .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })
            }
        }

        private func values(_ value: (Int) -> Value) -> UniqueValues? {
            if slots.count == 1 {
                let value = value(slots[0])
                return value == .null ? nil : .one(value)
            }
            let values = slots.map(value)
            return values.contains(.null) ? nil : .several(values)
        }
    }

    /// The values of an object. Texts are compared as Swift compares strings, in any Unicode normalization form.
    private enum UniqueValues: Hashable {
        case one(Value), several([Value])

        var all: [Value] {
            switch self {
            case .one(let value): [value]
            case .several(let values): values
            }
        }
    }

    private mutating func resolve(_ constraint: Constraint) throws {
        var owners: [UniqueValues: any GraphObject] = [:]
        for entry in changeTracker.inserted.entries + changeTracker.updated.entries {
            let object = entry.object
            guard object.hasChanges, !entry.state.pointee.life.isDeleted,
                object.entity.isKind(of: constraint.entity), let values = constraint.values(of: object)
            else { continue }
            if let owner = owners.updateValue(object, forKey: values), owner !== object {
                owners[values] = resolve(object, against: owner, constraint)
            }
        }
        for saved in loader.materialize(try savedRows(constraint, owners.keys)) {
            // A deleted object, and an object with new values, lose the stored values with this save.
            guard !saved.isObjectDeleted, let values = constraint.values(of: saved),
                let position = owners.index(forKey: values), owners.values[position] !== saved
            else { continue }
            owners.values[position] = resolve(owners.values[position], against: saved, constraint)
        }
        redirectReferences()
    }

    /// The rows that have one of the lists of values.
    private func savedRows(_ constraint: Constraint, _ values: some Collection<UniqueValues>) throws -> RowBatch {
        let columns = constraint.slots.map { QueryExpression.path(constraint.entity.properties[$0]) }
        var rows = RowBatch()
        var rest = Array(values)[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(500)
            rest = rest.dropFirst(500)
            var request = FetchRequest(constraint.entity)
            request.includesPendingChanges = false
            if columns.count == 1 {
                request.predicate = .isMember(columns[0], of: chunk.flatMap(\.all))
            } else {
                request.predicate = .or(
                    chunk.map { values in
                        .and(zip(columns, values.all).map { .comparison(.equal, $0, .literal($1)) })
                    }
                )
            }
            rows.append(try loader.rows(for: request))
        }
        return rows
    }

    // MARK: Resolving collisions

    /// Resolves the collision of two objects, and returns the object that keeps the values.
    private mutating func resolve(
        _ object: any GraphObject,
        against other: any GraphObject,
        _ constraint: Constraint
    ) -> any GraphObject {
        wasResolved = true
        let isSaved = object.isSaved
        switch mergePolicy {
        case .error:
            report(object, other, constraint)
            return other
        case .rollback:
            if isSaved {
                object.revertRelationships()
                object.state.pointee.changes = nil
                changeTracker.dropUpdate(of: object)
            } else {
                object.restoreStoredOwners()
                deletePropagation.delete(object)
                deletePropagation.run()
            }
            return other
        case .mergeByPropertyStoreTrump where isSaved:
            for slot in constraint.slots { object.ensureChanges()[slot] = .unset }
            return other
        case .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite:
            // An object of another entity has other properties: merging the two would drop values.
            guard object.entity == other.entity else {
                report(object, other, constraint)
                return other
            }
            // A saved object survives. Of two new or two saved objects, the earlier one survives.
            if isSaved, !other.isSaved {
                absorb(other, into: object)
                return object
            }
            if isSaved {
                // Both are saved: the object that this context has changed takes precedence.
                absorb(other, into: object, takingValues: false)
                return object
            }
            absorb(object, into: other)
            return other
        }
    }

    private mutating func report(_ object: any GraphObject, _ other: any GraphObject, _ constraint: Constraint) {
        let isUnchanged = other.isSaved && !other.hasChanges
        conflicts.append(
            ConstraintConflict(
                entity: constraint.entity.name,
                properties: constraint.properties,
                databaseObject: isUnchanged ? other.managedObjectID : nil,
                conflictingObjects: (isUnchanged ? [object] : [other, object]).map(\.managedObjectID)
            )
        )
    }

    /// Merges an object into another object of its entity: its values according to the policy, and its relationships.
    /// ``redirectReferences()`` redirects other references to the object.
    private mutating func absorb(
        _ object: any GraphObject,
        into survivor: any GraphObject,
        takingValues: Bool = true
    ) {
        let takesValues = takingValues && mergePolicy.objectWins
        let rootIndex = object.entity.rootIndex
        // The objects to which both refer may have been merged before.
        redirectDestinations(of: object)
        redirectMembers(of: object)
        redirectDestinations(of: survivor)
        for property in object.entity.properties {
            switch property {
            case .attribute:
                if takesValues { copyValue(at: property.slot, of: object, to: survivor) }
            case .relationship(let relationship):
                move(relationship, from: object, to: survivor, replaces: takesValues)
            }
        }
        if isDestinationOfOneWay(rootIndex) { survivors[rootIndex, default: [:]][object.state.pointee.key] = survivor }
        for relationship in object.entity.relationships { object.empty(relationship) }
        if object.isSaved {
            deletePropagation.delete(object)
            deletePropagation.run()
        } else {
            changeTracker.inserted.remove(object)
            identityMap.markMissing(object)
            absorbed.append(Absorbed(object: object, survivor: survivor))
        }
    }

    private func copyValue(at slot: Int, of object: any GraphObject, to survivor: any GraphObject) {
        let value = object.state.pointee.changes?[slot] ?? .unset
        if !value.isUnset {
            survivor.setSlotValue(value, at: slot)
        } else if mergePolicy == .overwrite {
            survivor.setSlotValue(.value(.null), at: slot)
        }
    }

    private func move(
        _ relationship: Relationship,
        from object: any GraphObject,
        to survivor: any GraphObject,
        replaces: Bool
    ) {
        if relationship.isToMany {
            // The members of the survivor are read only if they are ordered.
            for member in object.memberObjects(at: relationship.slot) {
                survivor.addMember(member === object ? survivor : member, at: relationship.slot)
            }
        } else if let destination = object.destination(at: relationship.slot),
            replaces || survivor.destination(at: relationship.slot) == nil
        {
            let destination = destination === object ? survivor : destination
            // A shared inverse alone does not show in which of the relationships the survivor is to be.
            object.passMembership(along: relationship, of: destination, to: survivor)
            survivor.setDestination(destination, at: relationship.slot)
        }
    }

    // MARK: Redirecting references

    /// Redirects the one-way relationships of changed objects to the survivors. Relationships with an inverse have been
    /// redirected before.
    ///
    /// - Complexity: O(number of changed objects and their members), independent of the number of survivors.
    private mutating func redirectReferences() {
        defer { survivors = [:] }
        guard identityMap.model.relationships.contains(where: { mayLeadToSurvivor($0) }) else { return }
        for entry in changeTracker.inserted.entries + changeTracker.updated.entries {
            let object = entry.object
            redirectDestinations(of: object)
            redirectMembers(of: object)
        }
    }

    /// Redirects the one-way to-one relationships of an object to the survivors.
    private mutating func redirectDestinations(of object: any GraphObject) {
        guard !survivors.isEmpty else { return }
        for relationship in object.entity.relationships
        where !relationship.isToMany && mayLeadToSurvivor(relationship) {
            let key = object.destinationKey(at: relationship.slot)
            guard let target = survivor(of: key, along: relationship) else { continue }
            object.storeDestination(target.state.pointee.key, at: relationship.slot)
        }
    }

    /// Redirects the one-way to-many relationships of an object to the survivors.
    private mutating func redirectMembers(of object: any GraphObject) {
        guard !survivors.isEmpty else { return }
        for relationship in object.entity.relationships
        where relationship.isToMany && mayLeadToSurvivor(relationship) {
            guard let members = object.state.pointee.changes?.members(at: relationship.slot) else { continue }
            for key in Array(members.keys) {
                guard let target = survivor(of: key, along: relationship) else { continue }
                object.removeMember(key, from: relationship)
                object.addMember(target.state.pointee.key, to: relationship)
            }
        }
    }

    /// Whether a one-way relationship leads to objects of an inheritance.
    private func isDestinationOfOneWay(_ rootIndex: Int) -> Bool {
        identityMap.model.relationships.contains { $0.inverse == nil && $0.destination.rootIndex == rootIndex }
    }

    private func mayLeadToSurvivor(_ relationship: Relationship) -> Bool {
        relationship.inverse == nil && survivors[relationship.destination.rootIndex] != nil
    }

    /// The object into which the destination of a relationship was merged; nil if it was not.
    private mutating func survivor(of key: Int64, along relationship: Relationship) -> (any GraphObject)? {
        let root = relationship.destination.rootIndex
        guard var last = survivors[root]?[key] else { return nil }
        var merged = [key]
        // The survivor may have been merged into another object since.
        while let next = survivors[root]?[last.state.pointee.key] {
            merged.append(last.state.pointee.key)
            last = next
        }
        // Shortens the chain, so that its length counts only once.
        if merged.count > 1 { for key in merged { survivors[root]?[key] = last } }
        return last.entity.isKind(of: relationship.destination) ? last : nil
    }

    // MARK: After the save

    /// Gives new objects the identity of the objects into which they were merged. If the program refers to the
    /// survivor, which therefore stays registered, the new object counts as deleted, with the same identifier and
    /// values.
    mutating func finish() {
        // Undoing the insertion of a merged object would delete the survivor.
        if !absorbed.isEmpty { changeTracker.forgetUndo() }
        while let last = absorbed.popLast() {
            let state = last.object.state
            // The object is no longer found under its temporary key.
            state.pointee.handler?.table.remove(state.pointee.key)
            guard let survivor = last.survivor?.state.pointee, let handler = survivor.handler else { continue }
            state.pointee.row = survivor.row
            state.pointee.changes = nil
            state.pointee.key = survivor.key
            state.pointee.handler = handler
            if type(of: last.object) == handler.objectType,
                let replaced = handler.table.replaceUnused(survivor.key, with: last.object)
            {
                state.pointee.life.markPresent()
                // Of the flags, only the mark of observers outlasts the merge.
                state.pointee.flags.formIntersection(.observed)
                withExtendedLifetime(replaced) {}
            }
        }
    }
}

extension GraphObject {
    /// Whether the store has the object: a new object may have a permanent key before its save.
    fileprivate var isSaved: Bool { state.pointee.key > 0 && !state.pointee.life.isInserted }

    /// Restores the stored owners of the saved objects that would be deleted with this new object.
    fileprivate func restoreStoredOwners() {
        for relationship in entity.relationships where relationship.deleteRule == .cascade {
            for member in destinations(of: relationship) where member.isSaved {
                if let inverse = relationship.inverse, !inverse.isToMany {
                    let stored = member.state.pointee.row?.integer(at: inverse.slot) ?? 0
                    let owner = state.pointee.handler?.context?.loader.objects(with: [stored], of: inverse.destination)
                        .first
                    member.setDestination(owner, at: inverse.slot)
                } else if relationship.isToMany {
                    removeMember(member, at: relationship.slot)
                } else {
                    setDestination(nil, at: relationship.slot)
                }
            }
        }
    }

    /// Removes all destinations of a relationship.
    fileprivate func empty(_ relationship: Relationship) {
        if relationship.isToMany {
            setMembers([], at: relationship.slot)
        } else {
            setDestination(nil, at: relationship.slot)
        }
    }
}
