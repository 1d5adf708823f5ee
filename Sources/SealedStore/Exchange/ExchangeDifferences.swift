import EncryptedSQLite
import Foundation
import ObjectGraph

/// The differences from the common order that a merge has left, found by comparison of the store with the change set.
struct ExchangeDifferences {
    private let merge: ChangeSetMerge
    private let reading: ExchangeReading
    private var rows: [ObjectPlace: Row] = [:]
    private var differences: [ObjectPlace: PendingChanges.Difference] = [:]

    /// - Parameter written: The encoded changes of the transaction.
    /// - Throws: ``SealedStoreError/damagedRow(entity:property:)``; `DatabaseError`.
    init(_ merge: ChangeSetMerge, written: [[UInt8]]) throws {
        self.merge = merge
        reading = merge.reading
        let groups = try Self.groups(written, merge.model)
        var changed = Set(merge.targets.lazy.filter { !merge.dropped.contains($0.place) }.map(\.place))
        for group in groups where group.kind == .update {
            for key in group.keys.joined() {
                changed.insert(ObjectPlace(rootIndex: group.entity.rootIndex, key: key))
            }
        }
        rows = try reading.rows(of: changed)
        for target in merge.targets where !merge.dropped.contains(target.place) { try add(target) }
        for group in groups { add(group) }
        addDecisions()
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
    private mutating func add(_ target: ChangeSetMerge.Target) throws {
        // A delete rule may have deleted it.
        guard let row = rows[target.place] else { return }
        var slots = SlotSet()
        var compared = SlotSet()
        for (property, value) in target.change.values {
            compared.insert(property.slot)
            if try !isEqual(property, value, row) { slots.insert(property.slot) }
        }
        var difference = merge.pending[target.place] ?? .init(entity: target.change.entity, isKnown: true)
        if target.change.kind == .insert {
            // All properties were compared.
            difference = .init(entity: target.change.entity, isKnown: true, slots: slots)
        } else if !difference.isWhole {
            difference.slots.subtract(compared)
            difference.slots.formUnion(slots)
        }
        differences[target.place] = difference
    }

    private func isEqual(_ property: ExchangedProperty, _ value: ChangeSet.PropertyValue, _ row: Row) throws -> Bool {
        switch value {
        case .attribute(let value): return row.holds(value, at: property.slot)
        case .reference(let identifier):
            return row.integer(at: property.slot) == identifier.map { merge.places[$0]?.key ?? -1 } ?? 0
        case .members(let identifiers):
            guard let relationship = property.list else { return true }
            let keys = identifiers.map { merge.places[$0]?.key ?? -1 }
            let members = try reading.members(of: relationship, row.key)
            return relationship.isOrdered ? keys == members : Set(keys) == Set(members)
        }
    }

    /// Adds the changes of the transaction that the change set does not contain.
    private mutating func add(_ group: PersistentHistoryTransaction.Group) {
        for key in group.keys.joined() {
            let place = ObjectPlace(rootIndex: group.entity.rootIndex, key: key)
            let known = differences[place] ?? merge.pending[place]
            var difference = known ?? .init(entity: group.entity, isKnown: true)
            switch group.kind {
            case .insert: continue
            case .update:
                let target = merge.target(at: place)
                for property in group.updatedProperties {
                    guard merge.reading.store.exchanged.property(at: property.slot, of: group.entity) != nil,
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

    /// Adds the objects that stay although the change set deletes them, and the other way round.
    private mutating func addDecisions() {
        for (place, change) in merge.deletedByOthers where merge.vetoed.contains(place) {
            differences[place] = .init(entity: change.entity, isKnown: false, isWhole: true)
        }
        for target in merge.targets where merge.dropped.contains(target.place) {
            differences[target.place] = .init(entity: target.change.entity, isKnown: true, isDeleted: true)
        }
        for change in merge.incoming.changes where change.kind == .delete {
            guard let place = merge.places[change.identifier], let known = merge.pending[place], known.isDeleted else {
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
                !(merge.pending[place].map { $0 == difference } ?? difference.isNone)
            }
        )
    }

    /// All differences of the store, encoded as changes.
    func encodedSnapshot() -> [[UInt8]] {
        encoded(merge.pending.objects.merging(differences) { $1 }.filter { !$0.value.isNone })
    }

    private func encoded(_ differences: [ObjectPlace: PendingChanges.Difference]) -> [[UInt8]] {
        var encoder = HistoryEncoder()
        for place in differences.keys.sorted() {
            differences[place]?.encode(place.key, in: &encoder, reading.store.exchanged)
        }
        return encoder.finish()
    }

    /// Whether a snapshot of the differences costs less than reading again what has led to them.
    ///
    /// Every change set reads the transactions and marks since the last snapshot: their number stays below a constant,
    /// or a small part of the number of differences, which a snapshot writes.
    var isSnapshotDue: Bool { merge.pending.readCount >= max(16, merge.pending.objects.count / 16) }

    /// Whether the store is as the common order afterwards.
    var areNone: Bool {
        differences.allSatisfy { $0.value.isNone } && merge.pending.objects.keys.allSatisfy { differences[$0] != nil }
    }
}

extension PendingChanges.Difference {
    /// Encodes the difference as a change, from which ``PendingChanges`` reads it.
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
