import EncryptedSQLite
import Foundation
import ObjectGraph

/// Merges a change set into a store whose own changes the common order does not contain yet.
///
/// The merge decides the value of each property of the change set, and makes one save of the values. A decision can
/// make another decision necessary: if an insertion is dropped, the references to the object are dropped, too.
/// Therefore decisions are only ever added, and the save is composed again after each decision, until it violates
/// nothing. Each decision is a difference from the common order, which ``ExchangeDifferences`` finds afterwards by
/// comparison.
struct ChangeSetMerge {
    let reading: ExchangeReading
    let mergePolicy: MergePolicy
    let pending: UnexchangedChanges
    let incoming: IncomingChanges

    /// The places of the objects that the change set names, by global identifier. New objects get a place.
    private(set) var places: [UUID: ObjectPlace] = [:]
    /// The entities of the existing objects that the change set names, by `Entity.index`.
    private var entities: [ObjectPlace: Int] = [:]
    /// The rows of existing objects.
    private var rows: [ObjectPlace: Row] = [:]
    /// The changed and new objects, in the order of the change set.
    private(set) var targets: [Target] = []
    private var targetPositions: [ObjectPlace: Int] = [:]
    /// The positions of new objects by the identifiers of objects that they need; nil as long as none is dropped.
    private var requiring: [UUID: [Int]]?

    // MARK: Decisions

    /// The properties that keep their values. In a new object, they get no value.
    private var kept: [ObjectPlace: SlotSet] = [:]
    /// The new objects that are not inserted.
    private(set) var dropped: Set<ObjectPlace> = []
    /// The objects that take over the references to new objects that are not inserted.
    private var redirects: [ObjectPlace: ObjectPlace] = [:]
    /// The objects that the change set deletes.
    private(set) var deletedByOthers: [ObjectPlace: IncomingChanges.Change] = [:]
    /// The objects that delete rules delete with them.
    private(set) var deletedByRules: Set<ObjectPlace> = []
    /// The objects among ``deletedByOthers`` and ``deletedByRules`` that stay.
    private(set) var vetoed: Set<ObjectPlace> = []
    /// The objects of the store that become the same as new objects of the change set.
    private(set) var merged: [ObjectPlace: UUID] = [:]
    /// The conflicts, by object and property.
    private var conflicts: [ConflictKey: ExchangeConflict.Resolution] = [:]

    /// An object that the change set changes or inserts.
    struct Target {
        let change: IncomingChanges.Change
        let place: ObjectPlace
        /// Whether the store has no such object.
        let isNew: Bool
    }

    private struct ConflictKey: Hashable {
        let identifier: UUID
        let entity: Entity
        let slot: Int?
    }

    /// The values that a save writes, by object and slot.
    typealias Values = [ObjectPlace: [Int: Value]]

    init(
        _ incoming: IncomingChanges,
        _ pending: UnexchangedChanges,
        _ mergePolicy: MergePolicy,
        newKeys: [Int: [Int64]],
        _ reading: ExchangeReading
    ) throws {
        self.incoming = incoming
        self.pending = pending
        self.mergePolicy = mergePolicy
        self.reading = reading
        try findObjects()
        try addTargets(newKeys)
        try requireDestinations()
    }

    var model: ManagedObjectModel { reading.model }

    // MARK: Objects

    /// Finds the places, entities and rows of the objects that the change set names.
    private mutating func findObjects() throws {
        func find(_ identifier: UUID) throws {
            if places[identifier] == nil { places[identifier] = try reading.place(of: identifier) }
        }
        for change in incoming.changes {
            try find(change.identifier)
            for (_, value) in change.values {
                switch value {
                case .attribute, .reference(nil): continue
                case .reference(let identifier?): try find(identifier)
                case .members(let identifiers): for identifier in identifiers { try find(identifier) }
                }
            }
        }
        let changed = Set(incoming.changes.compactMap { places[$0.identifier] })
        rows = try reading.rows(of: changed)
        let others = try reading.rows(of: Set(places.values).subtracting(changed), only: [])
        for (place, row) in rows { entities[place] = row.entityIndex }
        for (place, row) in others { entities[place] = row.entityIndex }
    }

    private mutating func addTargets(_ newKeys: [Int: [Int64]]) throws {
        var newKeys = newKeys
        for change in incoming.changes {
            let place = places[change.identifier]
            if let place, let index = entities[place], model.entities[index] !== change.entity {
                throw IncomingChanges.error(.otherEntity, change.identifier, change.entity)
            }
            switch (change.kind, place) {
            case (.insert, let place?) where entities[place] != nil: add(change, place, isNew: false)
            case (.insert, let place?) where pending[place]?.isDeleted ?? false:
                // The deletion of the object by this store is exchanged next.
                note(change, nil, .droppedUpdate)
            case (.insert, _):
                guard let key = newKeys[change.entity.rootIndex]?.popLast() else {
                    preconditionFailure("each insertion has a key")
                }
                let place = ObjectPlace(rootIndex: change.entity.rootIndex, key: key)
                places[change.identifier] = place
                entities[place] = change.entity.index
                add(change, place, isNew: true)
            case (.update, let place?):
                if entities[place] != nil {
                    add(change, place, isNew: false)
                } else if pending[place]?.isDeleted ?? false {
                    note(change, nil, .droppedUpdate)
                } else {
                    throw IncomingChanges.error(.missingObject, change.identifier, change.entity)
                }
            case (.update, nil): throw IncomingChanges.error(.missingObject, change.identifier, change.entity)
            case (.delete, let place?) where entities[place] != nil:
                deletedByOthers[place] = change
                guard let difference = pending[place] else { continue }
                let stays = mergePolicy == .overwrite && !difference.isDeleted
                if stays { vetoed.insert(place) }
                note(change, nil, stays ? .keptObject : .deleted)
            case (.delete, _): continue
            }
        }
    }

    private mutating func add(_ change: IncomingChanges.Change, _ place: ObjectPlace, isNew: Bool) {
        targetPositions[place] = targets.count
        targets.append(Target(change: change, place: place, isNew: isNew))
    }

    /// Checks that the store has, or has deleted, all destinations, and that they are of the relationships' entities.
    private func requireDestinations() throws {
        for change in incoming.changes {
            for (property, value) in change.values {
                let identifiers: [UUID]
                let destination: Entity
                switch (property.form, value) {
                case (.reference(let relationship), .reference(let identifier?)):
                    (identifiers, destination) = ([identifier], relationship.destination)
                case (.members(let relationship), .members(let members)),
                    (.order(let relationship), .members(let members)):
                    (identifiers, destination) = (members, relationship.destination)
                default: continue
                }
                for identifier in identifiers {
                    guard let place = places[identifier] else {
                        throw IncomingChanges.error(.missingObject, change.identifier, change.entity, property.name)
                    }
                    let isFitting =
                        entities[place].map { model.entities[$0].isKind(of: destination) }
                        ?? (place.rootIndex == destination.rootIndex)
                    guard isFitting else {
                        throw IncomingChanges.error(.otherEntity, change.identifier, change.entity, property.name)
                    }
                }
            }
        }
    }

    /// The row of an existing object; nil for a new one.
    mutating func row(at place: ObjectPlace) throws -> Row? {
        if let row = rows[place] { return row }
        guard let row = try reading.rows(of: [place])[place] else { return nil }
        rows[place] = row
        entities[place] = row.entityIndex
        return row
    }

    func target(at place: ObjectPlace) -> Target? { targetPositions[place].map { targets[$0] } }

    /// Whether the save deletes an object.
    func isDeleted(_ place: ObjectPlace) -> Bool {
        (deletedByOthers[place] != nil || deletedByRules.contains(place)) && !vetoed.contains(place)
    }

    /// The place of the object to which a reference leads after the save; nil if there is none.
    func destination(_ identifier: UUID) -> ObjectPlace? {
        guard var place = places[identifier] else { return nil }
        while let next = redirects[place] { place = next }
        return entities[place] == nil || dropped.contains(place) || isDeleted(place) ? nil : place
    }

    func isKept(_ slot: Int, _ place: ObjectPlace) -> Bool { kept[place]?.contains(slot) ?? false }

    // MARK: Deciding

    /// Lets a property keep its value.
    ///
    /// - Returns: Whether the property did not keep its value before.
    @discardableResult
    mutating func keep(_ slot: Int, _ target: Target) -> Bool {
        guard !isKept(slot, target.place) else { return false }
        kept[target.place, default: SlotSet()].insert(slot)
        note(target.change, slot, .keptLocal)
        return true
    }

    /// Drops a new object.
    ///
    /// - Parameter other: The object that takes over the references to the new object.
    /// - Throws: `ExchangeError.invalidChangeSet` if the store has no changes that could be the reason.
    mutating func drop(_ target: Target, for other: ObjectPlace? = nil, _ reason: ExchangeError.Problem.Reason) throws {
        guard !pending.isEmpty else {
            throw IncomingChanges.error(reason, target.change.identifier, target.change.entity)
        }
        if let other { redirects[target.place] = other }
        note(target.change, nil, other == nil ? .droppedInsertion : .merged)
        guard dropped.insert(target.place).inserted, other == nil else { return }
        // The objects that need the dropped object are dropped at once: otherwise each composition would find one of
        // them.
        var needed = [target]
        while let target = needed.popLast() {
            for dependent in newDependents(of: target) where dropped.insert(dependent.place).inserted {
                note(dependent.change, nil, .droppedInsertion)
                needed.append(dependent)
            }
        }
    }

    /// The new objects that cannot be without a new object.
    private mutating func newDependents(of target: Target) -> [Target] {
        if requiring == nil {
            var found: [UUID: [Int]] = [:]
            for (position, target) in targets.enumerated() where target.isNew {
                for (property, value) in target.change.values {
                    guard case .reference(let relationship) = property.form, case .reference(let identifier?) = value
                    else { continue }
                    if !relationship.isOptional { found[identifier, default: []].append(position) }
                }
            }
            requiring = found
        }
        var dependents = (requiring?[target.change.identifier] ?? []).map { targets[$0] }.filter(\.isNew)
        for (property, value) in target.change.values {
            guard case .reference(let relationship) = property.form, relationship.isOneToOne,
                let inverse = relationship.inverse, !inverse.isOptional, case .reference(let identifier?) = value,
                let partner = places[identifier].flatMap(self.target(at:)), partner.isNew
            else { continue }
            dependents.append(partner)
        }
        return dependents
    }

    /// Makes a new object of the store the same as a new object of the change set.
    mutating func merge(_ target: Target, with place: ObjectPlace) {
        let identifier = target.change.identifier
        note(target.change, nil, .merged)
        merged[place] = identifier
        places[identifier] = place
        guard let position = targetPositions.removeValue(forKey: target.place) else { return }
        entities[target.place] = nil
        targets[position] = Target(change: target.change, place: place, isNew: false)
        targetPositions[place] = position
    }

    /// Deletes an object by a delete rule.
    mutating func deleteByRule(_ place: ObjectPlace) { deletedByRules.insert(place) }

    /// Lets an object stay, and the objects that it needs.
    mutating func veto(_ place: ObjectPlace) throws {
        var places = [place]
        while let place = places.popLast() {
            guard vetoed.insert(place).inserted else { continue }
            if let change = deletedByOthers[place] { note(change, nil, .keptObject) }
            guard let row = try row(at: place) else { continue }
            for relationship in model.entities[row.entityIndex].relationships
            where !relationship.isToMany && !relationship.isOptional {
                let destination = relationship.destinationPlace(row.integer(at: relationship.slot))
                if destination.key != 0, isDeleted(destination) { places.append(destination) }
            }
        }
    }

    mutating func note(_ change: IncomingChanges.Change, _ slot: Int?, _ resolution: ExchangeConflict.Resolution) {
        conflicts[ConflictKey(identifier: change.identifier, entity: change.entity, slot: slot)] = resolution
    }

    /// Whether a property of an object is in conflict.
    func hasConflict(_ target: Target) -> Bool {
        target.change.values.contains { property, _ in
            let change = target.change
            return conflicts[ConflictKey(identifier: change.identifier, entity: change.entity, slot: property.slot)]
                != nil
        }
    }

    /// The conflicts, in a fixed order.
    var allConflicts: [ExchangeConflict] {
        conflicts.sorted { left, right in
            (left.key.identifier.uuidString, left.key.slot ?? -1)
                < (right.key.identifier.uuidString, right.key.slot ?? -1)
        }.map { key, resolution in
            ExchangeConflict(
                identifier: key.identifier,
                entity: key.entity.name,
                property: key.slot.map { key.entity.properties[$0].name },
                resolution: resolution
            )
        }
    }

    /// - Throws: `ExchangeError.conflicts` under the policy `error`, if there are any.
    func requireNoConflicts() throws {
        if mergePolicy == .error, !conflicts.isEmpty { throw ExchangeError.conflicts(allConflicts) }
    }
}
