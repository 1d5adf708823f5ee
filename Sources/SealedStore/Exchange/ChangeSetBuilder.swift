import EncryptedSQLite
import Foundation
import ObjectGraph

/// Makes a change set of the pending changes of a store, with the present values of the objects.
struct ChangeSetBuilder {
    private let reading: ExchangeReading
    private let pending: UnexchangedChanges
    private var identifiers: [ObjectPlace: UUID] = [:]

    /// The chosen part of the changes; nil for all.
    private var part: ChangeSetPart?

    /// The number of objects that are read at once. Their values can be large.
    private static let objectsAtOnce = 64

    init(_ pending: UnexchangedChanges, _ reading: ExchangeReading) {
        self.pending = pending
        self.reading = reading
    }

    /// The changes, in the order of their entities and keys.
    ///
    /// - Parameter limit: The size in bytes above which only a part of the pending changes is returned.
    mutating func changes(limit: Int) throws -> (changes: [ChangeSet.Change], isPart: Bool) {
        if let all = try allChanges(limit: limit) { return (all, false) }
        let part = try ChangeSetPart(pending, reading, limit: limit)
        let chosen = part.slots
        let places = (part.deleted + chosen.keys).sorted()
        let rows = part.rows
        self.part = part
        return (try places.compactMap { try change(at: $0, rows[$0], chosen[$0]) }, true)
    }

    /// All changes; nil if they are larger than a limit.
    private mutating func allChanges(limit: Int) throws -> [ChangeSet.Change]? {
        var changes: [ChangeSet.Change] = []
        var size = 0
        let places = pending.objects.keys.sorted()
        for start in stride(from: 0, to: places.count, by: Self.objectsAtOnce) {
            let part = places[start..<min(places.count, start + Self.objectsAtOnce)]
            let rows = try reading.rows(of: part.filter { !(pending[$0]?.isDeleted ?? true) })
            for place in part {
                guard let change = try change(at: place, rows[place], nil) else { continue }
                changes.append(change)
                size += change.size
                guard size <= limit || places.count == 1 else { return nil }
            }
        }
        return changes
    }

    /// - Parameter slots: The chosen properties; nil for all pending properties.
    private mutating func change(at place: ObjectPlace, _ row: Row?, _ slots: SlotSet?) throws -> ChangeSet.Change? {
        guard let difference = pending[place] else { return nil }
        if difference.isDeleted {
            return ChangeSet.Change(
                identifier: try identifier(of: place),
                entity: difference.entity.name,
                kind: .delete,
                values: [:]
            )
        }
        guard let row else { return nil }
        let entity = reading.model.entities[row.entityIndex]
        var values: [String: ChangeSet.PropertyValue] = [:]
        for property in reading.store.exchanged.properties(of: entity)
        where slots?.contains(property.slot) ?? difference.contains(property.slot) {
            let value = try value(of: property, row)
            // The other stores would refuse the change set, and this store could never send a further change set.
            if case .attribute(let attribute) = property.form, case .attribute(let value) = value,
                !value.isRepresentable(as: attribute.type)
            {
                throw SealedStoreError.damagedRow(entity: entity.name, property: property.name)
            }
            if difference.isKnown || !value.isEmpty { values[property.name] = value }
        }
        return ChangeSet.Change(
            identifier: try identifier(of: place),
            entity: entity.name,
            kind: difference.isKnown ? .update : .insert,
            values: values
        )
    }

    private mutating func value(of property: ExchangedProperty, _ row: Row) throws -> ChangeSet.PropertyValue {
        switch property.form {
        case .attribute: return .attribute(row.value(at: property.slot))
        case .reference(let relationship):
            if let part {
                return .reference(try part.destination(of: relationship, row).map { try identifier(of: $0) })
            }
            let key = row.integer(at: property.slot)
            return .reference(key == 0 ? nil : try identifier(of: key, relationship))
        case .members(let relationship), .order(let relationship):
            let place = ObjectPlace(rootIndex: relationship.source.rootIndex, key: row.key)
            if let members = try part?.sentMembers(of: property, place) {
                return .members(try members.map { try identifier(of: $0) })
            }
            return .members(
                try reading.members(of: relationship, row.key).map { try identifier(of: $0, relationship) }
            )
        }
    }

    private mutating func identifier(of key: Int64, _ relationship: Relationship) throws -> UUID {
        try identifier(of: ObjectPlace(rootIndex: relationship.destination.rootIndex, key: key))
    }

    private mutating func identifier(of place: ObjectPlace) throws -> UUID {
        if let known = identifiers[place] { return known }
        let identifier = try reading.identifier(of: place)
        identifiers[place] = identifier
        return identifier
    }
}

extension ChangeSet.PropertyValue {
    /// Whether the value is the value of a property of a new object to which nothing was assigned.
    var isEmpty: Bool {
        switch self {
        case .attribute(let value): value.isNull
        case .reference(let identifier): identifier == nil
        case .members(let identifiers): identifiers.isEmpty
        }
    }
}

extension ChangeSet.Change {
    /// The number of bytes of the coded form, or a few more.
    var size: Int {
        values.reduce(100) { size, value in
            let own =
                switch value.value {
                case .attribute(.text(let text)): text.utf8.count + 8
                case .attribute(.blob(let data)): data.count * 4 / 3 + 8
                case .attribute: 24
                case .reference: 40
                case .members(let identifiers): identifiers.count * 40
                }
            return size + value.key.utf8.count + own
        }
    }
}
