import EncryptedSQLite
import Foundation
import ObjectGraph

/// The differences from the common order that a merge has left, found by comparison of the store with the change set.
struct ExchangeDifferences {
    private let pending: UnexchangedChanges
    private let reading: ExchangeReading
    /// The places of the objects that the change set names, by global identifier.
    private var places: [UUID: ObjectPlace]
    private var rows: [ObjectPlace: Row] = [:]
    private var differences: [ObjectPlace: UnexchangedChanges.Difference] = [:]

    /// - Parameter written: The encoded changes of the transaction.
    /// - Throws: ``SealedStoreError/damagedRow(entity:property:)``; `DatabaseError`.
    init(_ merge: ChangeSetMerge, written: [[UInt8]]) throws {
        pending = merge.pending
        reading = merge.reading
        places = merge.places
        let groups = try Self.groups(written, merge.model)
        var changed = Set(merge.targets.lazy.filter { !merge.dropped.contains($0.place) }.map(\.place))
        for group in groups where group.kind == .update {
            for key in group.keys.joined() {
                changed.insert(ObjectPlace(rootIndex: group.entity.rootIndex, key: key))
            }
        }
        rows = try reading.rows(of: changed)
        for target in merge.targets where !merge.dropped.contains(target.place) {
            try add(target.change, at: target.place)
        }
        for group in groups { add(group, merge) }
        addDecisions(merge)
    }

    /// The differences that are left when the common order contains a change set that the store itself has made.
    ///
    /// - Parameter incoming: The change set; nil if the model has changed since it was made.
    init(
        acknowledging changeSet: ChangeSet,
        _ incoming: IncomingChanges?,
        _ pending: UnexchangedChanges,
        _ reading: ExchangeReading
    ) throws {
        self.pending = pending
        self.reading = reading
        places = [:]
        for change in changeSet.changes {
            try find(change.identifier)
            for value in change.values.values {
                switch value {
                case .attribute, .reference(nil): continue
                case .reference(let identifier?): try find(identifier)
                case .members(let identifiers): for identifier in identifiers { try find(identifier) }
                }
            }
        }
        rows = try reading.rows(of: Set(changeSet.changes.compactMap { places[$0.identifier] }))
        if let incoming {
            for change in incoming.changes { try acknowledge(change) }
        } else {
            for change in changeSet.changes { acknowledge(change) }
        }
    }

    private mutating func find(_ identifier: UUID) throws {
        if places[identifier] == nil { places[identifier] = try reading.place(of: identifier) }
    }

    private mutating func acknowledge(_ change: IncomingChanges.Change) throws {
        guard let place = places[change.identifier] else { return }
        if rows[place] != nil, change.kind != .delete { return try add(change, at: place) }
        acknowledge(change.kind, change.entity, at: place)
    }

    /// Acknowledges a change with the names of another model: all properties of the object may differ.
    private mutating func acknowledge(_ change: ChangeSet.Change) {
        guard let place = places[change.identifier] else { return }
        if let row = rows[place], change.kind != .delete {
            let entity = reading.model.entities[row.entityIndex]
            let slots = reading.store.exchanged.slots(of: entity)
            differences[place] = .init(entity: entity, isKnown: true, slots: slots)
        } else {
            acknowledge(change.kind, pending[place]?.entity ?? reading.model.entities[place.rootIndex], at: place)
        }
    }

    /// Acknowledges the deletion of an object, or the change of an object that was deleted since.
    private mutating func acknowledge(_ kind: ChangeSet.Change.Kind, _ entity: Entity, at place: ObjectPlace) {
        if kind == .delete {
            let isBack = rows[place] != nil
            differences[place] = .init(entity: entity, isKnown: false, isWhole: isBack, isDeleted: !isBack)
        } else {
            differences[place] = .init(entity: entity, isKnown: true, isDeleted: true)
        }
    }

    private static func groups(
        _ parts: [[UInt8]],
        _ model: ManagedObjectModel
    ) throws -> [PersistentHistoryTransaction.Group] {
        try parts.flatMap { part in
            try part.withUnsafeBytes { bytes in
                var decoder = HistoryDecoder(bytes, row: 1, model: model, renamings: [], includesValues: false)
                return try decoder.groups()
            }
        }
    }

    // MARK: Comparing

    /// Compares an object with its change in the change set.
    private mutating func add(_ change: IncomingChanges.Change, at place: ObjectPlace) throws {
        // A delete rule may have deleted the object.
        guard let row = rows[place] else { return }
        var slots = SlotSet()
        var compared = SlotSet()
        for (property, value) in change.values {
            compared.insert(property.slot)
            if try !isEqual(property, value, row) { slots.insert(property.slot) }
        }
        var difference = pending[place] ?? .init(entity: change.entity, isKnown: true)
        if change.kind == .insert {
            // All properties were compared.
            difference = .init(entity: change.entity, isKnown: true, slots: slots)
        } else if !difference.isWhole {
            difference.slots.subtract(compared)
            difference.slots.formUnion(slots)
        }
        differences[place] = difference
    }

    private func isEqual(_ property: ExchangedProperty, _ value: ChangeSet.PropertyValue, _ row: Row) throws -> Bool {
        switch value {
        case .attribute(let value): return row.holds(value, at: property.slot)
        case .reference(let identifier):
            return row.integer(at: property.slot) == identifier.map { places[$0]?.key ?? -1 } ?? 0
        case .members(let identifiers):
            guard let relationship = property.list else { return true }
            let keys = identifiers.map { places[$0]?.key ?? -1 }
            let members = try reading.members(of: relationship, row.key)
            return relationship.isOrdered ? keys == members : Set(keys) == Set(members)
        }
    }

    /// Adds the changes of the transaction that are not in the change set.
    private mutating func add(_ group: PersistentHistoryTransaction.Group, _ merge: ChangeSetMerge) {
        for key in group.keys.joined() {
            let place = ObjectPlace(rootIndex: group.entity.rootIndex, key: key)
            let known = differences[place] ?? pending[place]
            var difference = known ?? .init(entity: group.entity, isKnown: true)
            switch group.kind {
            case .insert: continue
            case .update:
                let target = merge.target(at: place)
                for property in group.updatedProperties {
                    guard let exchanged = reading.store.exchanged.property(at: property.slot, of: group.entity),
                        !exchanged.isImplied,
                        !(target?.change.values.contains { $0.property.slot == property.slot } ?? false)
                    else { continue }
                    difference.slots.insert(property.slot)
                }
            case .delete:
                difference.isWhole = false
                difference.slots = SlotSet()
                difference.isDeleted = true
                if merge.deletedByOthers[place] != nil { difference.isKnown = false }
                // A rule deletes an object of the change set, also one that was merged with an object of this store.
                if merge.target(at: place) != nil { difference.isKnown = true }
            }
            differences[place] = difference
        }
    }

    /// Adds the objects that stay although the change set deletes them, and objects that are deleted although it does
    /// not.
    private mutating func addDecisions(_ merge: ChangeSetMerge) {
        for (place, change) in merge.deletedByOthers where merge.vetoed.contains(place) {
            differences[place] = .init(entity: change.entity, isKnown: false, isWhole: true)
        }
        for target in merge.targets where merge.dropped.contains(target.place) {
            differences[target.place] = .init(entity: target.change.entity, isKnown: true, isDeleted: true)
        }
        for change in merge.incoming.changes where change.kind == .delete {
            guard let place = places[change.identifier], let known = pending[place], known.isDeleted else {
                continue
            }
            differences[place] = .init(entity: change.entity, isKnown: false, isDeleted: true)
        }
    }

    // MARK: The result

    /// The differences that the transactions of the store do not show, encoded as changes.
    func encoded() -> [[UInt8]] {
        encoded(
            differences.filter { place, difference in
                !(pending[place].map { $0 == difference } ?? difference.isNone)
            }
        )
    }

    /// All differences of the store, encoded as changes.
    func encodedSnapshot() -> [[UInt8]] {
        encoded(pending.objects.merging(differences) { $1 }.filter { !$0.value.isNone })
    }

    private func encoded(_ differences: [ObjectPlace: UnexchangedChanges.Difference]) -> [[UInt8]] {
        var encoder = HistoryEncoder()
        for place in differences.keys.sorted() {
            differences[place]?.encode(place.key, in: &encoder, reading.store.exchanged)
        }
        return encoder.finish()
    }

    /// Whether a snapshot of the differences costs less than reading the transactions and marks that have led to them
    /// again.
    ///
    /// Every change set reads the transactions and marks since the last snapshot: their number stays below a constant,
    /// or a small part of the number of differences, which a snapshot writes.
    var isSnapshotDue: Bool { pending.readCount >= max(16, pending.objects.count / 16) }

    /// Whether the store equals the common order afterwards.
    var areNone: Bool {
        differences.allSatisfy { $0.value.isNone } && pending.objects.keys.allSatisfy { differences[$0] != nil }
    }
}

extension UnexchangedChanges.Difference {
    /// Encodes the difference as a change, from which ``UnexchangedChanges`` reads it.
    fileprivate func encode(_ key: Int64, in encoder: inout HistoryEncoder, _ exchanged: ExchangedProperties) {
        if isNone {
            encoder.add(.update, entity, SlotSet(), key: key)
        } else if isDeleted {
            encoder.add(.delete, entity, SlotSet(), key: key)
        } else if !isKnown {
            encoder.add(.insert, entity, SlotSet(), key: key)
        } else {
            encoder.add(.update, entity, isWhole ? exchanged.slots(of: entity) : slots, key: key)
        }
    }
}
