import EncryptedSQLite
import Foundation
import ObjectGraph

/// Chooses pending changes of a store so that a change set of them is about as large as a limit, and the common order
/// is consistent after it: it has no references that lead nowhere and no equal unique values, and its orders name their
/// members.
///
/// - The deletions, and changes of exchanged objects on which other changes can depend, are one unit, which the first
///   part contains: unique values, relationships with an order or with one partner, and all relationships if objects
///   were deleted.
/// - The other changes of exchanged objects follow one by one.
/// - A new object follows the objects to which it refers. If these refer to it again, an optional reference is nil at
///   first; objects that require each other are one unit.
/// - The list of a many-to-many relationship follows its members, and an order contains the members that are known.
///
/// Changes that a part leaves out stay pending.
struct ChangeSetPart {
    private let reading: ExchangeReading
    private let pending: UnexchangedChanges
    private let limit: Int

    /// The deleted objects.
    private(set) var deleted: [ObjectPlace] = []
    /// The chosen slots of the other objects.
    private(set) var slots: [ObjectPlace: SlotSet] = [:]
    /// The rows of the objects in ``slots``.
    private(set) var rows: [ObjectPlace: Row] = [:]

    private var size = 0
    /// Whether there is a change beside the changes of the first unit: each part has such a change, so that the parts
    /// end.
    private var hasOthers = false
    private var lists: [List: [ObjectPlace]] = [:]
    /// The changed slots of exchanged objects, by the position of the root entity.
    private var changedSlots: [Int: SlotSet] = [:]

    private struct List: Hashable {
        let relationship: Relationship
        let owner: Int64
    }

    /// The size in bytes of a change without values, about the size of its coded form.
    private static let changeSize = 100
    /// The size of an identifier.
    private static let identifierSize = 40

    /// - Parameter limit: The size in bytes, about the size of the coded form of the change set.
    init(_ pending: UnexchangedChanges, _ reading: ExchangeReading, limit: Int) throws {
        self.reading = reading
        self.pending = pending
        self.limit = limit
        let places = pending.objects.keys.sorted()
        for place in places {
            guard let difference = pending[place], difference.isKnown, !difference.isDeleted else { continue }
            changedSlots[place.rootIndex, default: SlotSet()].formUnion(slots(of: difference))
        }
        try addFirstUnit(places)
        for place in places where !isFull { try addIndependentChanges(of: place) }
        for place in places where !isFull && isUnsent(place) { try addNew(place) }
        try addOrders()
    }

    private var exchanged: ExchangedProperties { reading.store.exchanged }

    private var isFull: Bool { hasOthers && size >= limit }

    /// Whether the common order does not have an object after the part.
    private func isUnsent(_ place: ObjectPlace) -> Bool {
        guard let difference = pending[place] else { return false }
        return !difference.isKnown && difference.isWhole && slots[place] == nil
    }

    private func slots(of difference: UnexchangedChanges.Difference) -> SlotSet {
        difference.isWhole ? exchanged.slots(of: difference.entity) : difference.slots
    }

    // MARK: Changes of exchanged objects

    private mutating func addFirstUnit(_ places: [ObjectPlace]) throws {
        deleted = places.filter { pending[$0].map { $0.isKnown && $0.isDeleted } ?? false }
        size += deleted.count * Self.changeSize
        for place in places {
            guard let difference = pending[place], difference.isKnown, !difference.isDeleted else { continue }
            let slots = SlotSet(
                exchanged.properties(of: difference.entity).filter { property in
                    difference.contains(property.slot)
                        && (difference.isWhole || isDependent(property, of: difference.entity))
                }.map(\.property)
            )
            if slots.isEmpty { continue }
            try add(place, slots)
            for (destination, isRequired) in try destinations(of: place) where isRequired && isUnsent(destination) {
                try addNew(destination, isNeeded: true)
            }
        }
        try addSuccessors(places)
        hasOthers = false
    }

    /// Adds the new objects that take the place of others as the required partners of exchanged objects.
    private mutating func addSuccessors(_ places: [ObjectPlace]) throws {
        for relationship in reading.model.relationships
        where relationship.isOneToOne && relationship.isCanonicalReference {
            let isChanged = changedSlots[relationship.source.rootIndex]?.contains(relationship.slot) ?? false
            guard let inverse = relationship.inverse, !inverse.isOptional, isChanged || !deleted.isEmpty else {
                continue
            }
            for place in places where isUnsent(place) {
                guard let entity = pending[place]?.entity, entity.isKind(of: relationship.source) else { continue }
                let row = try reading.rows(of: [place], only: [.relationship(relationship)])[place]
                let partner = row.map { relationship.destinationPlace($0.integer(at: relationship.slot)) }
                if let partner, partner.key != 0, !isUnsent(partner) { try addNew(place, isNeeded: true) }
            }
        }
    }

    /// Whether another change can depend on the change of a property.
    private func isDependent(_ property: ExchangedProperty, of entity: Entity) -> Bool {
        switch property.form {
        case .attribute: entity.uniquenessConstraints.contains { $0.contains(property.slot) }
        case .reference(let relationship):
            !deleted.isEmpty || relationship.isOneToOne || !relationship.sharers.isEmpty
                || relationship.inverse?.isOrdered ?? false
        case .members(let relationship):
            !deleted.isEmpty || relationship.sharedInverse != nil || relationship.inverse?.isOrdered ?? false
        case .order(let relationship):
            !deleted.isEmpty
                || relationship.inverse.map { changedSlots[$0.source.rootIndex]?.contains($0.slot) ?? false } ?? true
        }
    }

    private mutating func addIndependentChanges(of place: ObjectPlace) throws {
        guard let difference = pending[place], difference.isKnown, !difference.isDeleted else { return }
        var slots = SlotSet()
        for property in exchanged.properties(of: difference.entity)
        where difference.contains(property.slot) && !(self.slots[place]?.contains(property.slot) ?? false) {
            if try isComplete(property, of: place) { slots.insert(property.slot) }
        }
        guard !slots.isEmpty else { return }
        try add(place, slots)
        hasOthers = true
    }

    /// Whether the common order can have the present value of a property.
    private mutating func isComplete(_ property: ExchangedProperty, of place: ObjectPlace) throws -> Bool {
        switch property.form {
        case .attribute: return true
        case .reference(let relationship):
            guard let row = try reading.rows(of: [place])[place] else { return false }
            return !isUnsent(relationship.destinationPlace(row.integer(at: property.slot)))
        case .members(let relationship), .order(let relationship):
            let members = try members(of: relationship, place)
            return try members.allSatisfy { try isSent($0, to: place, relationship) }
        }
    }

    // MARK: New objects

    /// Adds a new object behind the objects to which it refers, until the part is full.
    private mutating func addNew(_ root: ObjectPlace, isNeeded: Bool = false) throws {
        typealias Visit = (place: ObjectPlace, rest: [ObjectPlace], required: [ObjectPlace])
        func visit(_ place: ObjectPlace) throws -> Visit {
            let destinations = try destinations(of: place).filter { isUnsent($0.place) }
            return (place, destinations.map(\.place), destinations.filter(\.isRequired).map(\.place))
        }
        var visits = [try visit(root)]
        var visited: Set<ObjectPlace> = [root]
        // The objects that the added objects require.
        var required: Set<ObjectPlace> = isNeeded ? [root] : []
        while var last = visits.popLast() {
            if let next = last.rest.popLast() {
                visits.append(last)
                if isUnsent(next), visited.insert(next).inserted { visits.append(try visit(next)) }
                continue
            }
            guard let difference = pending[last.place] else { continue }
            try add(last.place, slots(of: difference))
            hasOthers = true
            required.remove(last.place)
            required.formUnion(last.required.filter(isUnsent))
            if isFull, required.isEmpty { return }
        }
    }

    /// The objects to which an object refers, each with whether the object requires it.
    private mutating func destinations(of place: ObjectPlace) throws -> [(place: ObjectPlace, isRequired: Bool)] {
        guard let difference = pending[place] else { return [] }
        let references = difference.entity.relationships.filter { !$0.isToMany }
        guard !references.isEmpty,
            let row = try reading.rows(of: [place], only: Set(references.map { .relationship($0) }))[place]
        else { return [] }
        var found: [(place: ObjectPlace, isRequired: Bool)] = []
        for relationship in references {
            let destination = relationship.destinationPlace(row.integer(at: relationship.slot))
            guard destination.key != 0 else { continue }
            let isCanonical = relationship.isCanonicalReference
            guard isCanonical || !relationship.isOptional else { continue }
            found.append((destination, !relationship.isOptional))
            // The partner is an exchanged object that has been without this object. Change sets contain the partner's
            // side, too, if the relationship is its own inverse.
            guard let inverse = relationship.inverse, !isCanonical || inverse === relationship,
                let other = pending[destination], other.isKnown, other.contains(inverse.slot)
            else { continue }
            try add(destination, SlotSet([.relationship(inverse)]))
        }
        return found
    }

    private mutating func add(_ place: ObjectPlace, _ added: SlotSet) throws {
        guard let row = try rows[place] ?? reading.rows(of: [place])[place] else { return }
        if rows.updateValue(row, forKey: place) == nil { size += Self.changeSize }
        let entity = reading.model.entities[row.entityIndex]
        for property in exchanged.properties(of: entity)
        where added.contains(property.slot) && !(slots[place]?.contains(property.slot) ?? false) {
            size += property.name.utf8.count
            switch property.form {
            case .attribute: size += row.size(at: property.slot)
            case .reference: size += Self.identifierSize
            case .members(let relationship), .order(let relationship):
                size += try members(of: relationship, place).count * Self.identifierSize
            }
        }
        slots[place, default: SlotSet()].formUnion(added)
    }

    // MARK: Lists

    private mutating func members(of relationship: Relationship, _ owner: ObjectPlace) throws -> [ObjectPlace] {
        let list = List(relationship: relationship, owner: owner.key)
        if let known = lists[list] { return known }
        let members = try reading.members(of: relationship, owner.key).map(relationship.destinationPlace)
        lists[list] = members
        return members
    }

    /// Whether the common order has an object as a member of a relationship after the part.
    private mutating func isSent(
        _ member: ObjectPlace,
        to owner: ObjectPlace,
        _ relationship: Relationship
    ) throws -> Bool {
        if isUnsent(member) { return false }
        guard case .joinTable(isCanonical: false) = relationship.placement, let inverse = relationship.inverse,
            let difference = pending[member], !difference.isKnown
        else { return true }
        return try self.members(of: inverse, member).allSatisfy { !isUnsent($0) }
    }

    /// Adds the orders in which chosen objects are new members, so that the positions of these members do not depend on
    /// the store.
    private mutating func addOrders() throws {
        for (place, chosen) in slots.sorted(by: { $0.key < $1.key }) {
            guard let row = rows[place] else { continue }
            for relationship in reading.model.entities[row.entityIndex].relationships
            where chosen.contains(relationship.slot) {
                guard let inverse = relationship.inverse, inverse.isOrdered, inverse !== relationship else { continue }
                let owners =
                    relationship.isToMany
                    ? try members(of: relationship, place)
                    : [relationship.destinationPlace(row.integer(at: relationship.slot))]
                for owner in owners where owner.key != 0 && !isUnsent(owner) {
                    guard pending[owner]?.contains(inverse.slot) ?? false else { continue }
                    try add(owner, SlotSet([.relationship(inverse)]))
                }
            }
        }
    }

    // MARK: Values

    /// The destination of a reference in the part; nil for none, and for an object that follows later.
    func destination(of relationship: Relationship, _ row: Row) -> ObjectPlace? {
        let destination = relationship.destinationPlace(row.integer(at: relationship.slot))
        return destination.key == 0 || isUnsent(destination) ? nil : destination
    }

    /// The members of a to-many relationship in the part.
    mutating func sentMembers(of property: ExchangedProperty, _ place: ObjectPlace) throws -> [ObjectPlace] {
        guard let relationship = property.list else { return [] }
        let all = try members(of: relationship, place)
        let sent = try all.filter { try isSent($0, to: place, relationship) }
        guard case .members = property.form, sent.count < all.count, !(pending[place]?.isKnown ?? true) else {
            return sent
        }
        // The list of a new object follows its members. If the relationship is its own inverse, or shares an inverse,
        // the other side of the pair in the same part contains the same.
        return relationship.inverse === relationship || relationship.sharedInverse != nil ? sent : []
    }
}

extension Row {
    /// The number of bytes of a value in its coded form, or a few more.
    fileprivate func size(at slot: Int) -> Int {
        switch tag(at: slot) {
        case .text: withBytes(at: slot) { $0.count } + 8
        case .blob: withBytes(at: slot) { $0.count } * 4 / 3 + 8
        case .deferredBlob: ((try? readBlob(at: slot).count) ?? 0) * 4 / 3 + 8
        default: 24
        }
    }
}
