import EncryptedSQLite
import Foundation
import ObjectGraph

/// Makes a change set of the pending changes of a store, with the present values of the objects.
struct ChangeSetBuilder {
    private let reading: ExchangeReading
    private let pending: PendingChanges
    private var identifiers: [ObjectPlace: UUID] = [:]

    /// The number of objects that are read at once.
    private static let objectsAtOnce = 4096

    init(_ pending: PendingChanges, _ reading: ExchangeReading) {
        self.pending = pending
        self.reading = reading
    }

    /// The changes, in the order of their entities and keys.
    mutating func changes() throws -> [ChangeSet.Change] {
        var changes: [ChangeSet.Change] = []
        let places = pending.objects.keys.sorted()
        for start in stride(from: 0, to: places.count, by: Self.objectsAtOnce) {
            let part = places[start..<min(places.count, start + Self.objectsAtOnce)]
            let rows = try reading.rows(of: part.filter { !(pending[$0]?.isDeleted ?? true) })
            for place in part {
                guard let difference = pending[place] else { continue }
                if difference.isDeleted {
                    changes.append(
                        .init(
                            identifier: try identifier(of: place),
                            entity: difference.entity.name,
                            kind: .delete,
                            values: [:]
                        )
                    )
                } else if let row = rows[place] {
                    changes.append(try change(of: row, place, difference))
                }
            }
        }
        return changes
    }

    private mutating func change(
        of row: Row,
        _ place: ObjectPlace,
        _ difference: PendingChanges.Difference
    ) throws -> ChangeSet.Change {
        let entity = reading.model.entities[row.entityIndex]
        var values: [String: ChangeSet.PropertyValue] = [:]
        for property in reading.store.exchanged.properties(of: entity) where difference.contains(property.slot) {
            let value = try value(of: property, row)
            // The other stores would refuse the change set, and this one could never send another.
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
            let key = row.integer(at: property.slot)
            return .reference(key == 0 ? nil : try identifier(of: key, relationship))
        case .members(let relationship), .order(let relationship):
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
    /// Whether the value is that of a property of a new object to which nothing was assigned.
    var isEmpty: Bool {
        switch self {
        case .attribute(let value): value.isNull
        case .reference(let identifier): identifier == nil
        case .members(let identifiers): identifiers.isEmpty
        }
    }
}
