/// The observed relationships of a context's objects whose value depends on the existence of their destinations: a
/// deletion or a return of a destination changes the value that is read, without a change of the object with the
/// relationship.
///
/// The relationships are found by the keys that they contain, so that their destinations need not stay in memory.
final class ObservedReferences {
    private struct Reference {
        weak var object: (any GraphObject)?
        let relationship: Relationship
    }

    /// The slot of an object.
    private struct Place: Hashable {
        let object: ObjectIdentifier
        let slot: Int
    }

    /// The relationships by the ``Entity/rootIndex`` of their destinations.
    private var references: [Int: [Place: Reference]] = [:]
    private var count = 0
    /// The number of relationships at which the relationships of released objects are removed.
    private var limit = 64

    /// Adds a relationship with observers.
    func add(_ object: any GraphObject, _ relationship: Relationship) {
        // A member of a to-many relationship with an inverse leaves it under every delete rule.
        guard !relationship.isToMany || relationship.inverse == nil else { return }
        if count >= limit { removeReleased() }
        let place = Place(object: ObjectIdentifier(object), slot: relationship.slot)
        let known = references[relationship.destination.rootIndex, default: [:]]
            .updateValue(Reference(object: object, relationship: relationship), forKey: place)
        if known == nil { count += 1 }
    }

    private func removeReleased() {
        references = references.mapValues { $0.filter { $0.value.object != nil } }
        count = references.values.reduce(0) { $0 + $1.count }
        limit = max(64, 2 * count)
    }

    /// Notifies the observers of the relationships that lead to an object.
    ///
    /// - Complexity: O(1) without observed relationships to objects of the entity, otherwise O(*n*) in their number.
    func notifyObservers(ofExistenceOf destination: any GraphObject) {
        guard let found = references[destination.entity.rootIndex] else { return }
        let key = destination.state.pointee.key
        for reference in found.values {
            guard let object = reference.object, object.leads(to: key, along: reference.relationship) else { continue }
            object.notifyObservers(of: reference.relationship.slot)
        }
    }
}

extension GraphObject {
    /// Enables the calls of ``_$willChange(at:)`` and ``_$didChange(at:)``, before observers read a property.
    public func _$beginObserving(at slot: Int) {
        state.pointee.flags.insert(.observed)
        guard let context = state.pointee.handler?.context else { return }
        context.deletePropagation.runsAtOnce = true
        if let relationship = relationship(at: slot) { context.observedReferences.add(self, relationship) }
    }

    /// Begins observing in the context that the object has just joined. Its observers may have read any property.
    func continueObserving() {
        guard state.pointee.flags.contains(.observed) else { return }
        for slot in 0..<entity.slotCount { _$beginObserving(at: slot) }
    }

    /// Notifies the observers of the relationships that lead to the object, after its deletion or return.
    func notifyObserversOfExistence() {
        state.pointee.handler?.context?.observedReferences.notifyObservers(ofExistenceOf: self)
    }

    /// Whether a relationship contains a key, as far as it is in memory.
    fileprivate func leads(to key: Int64, along relationship: Relationship) -> Bool {
        let slot = relationship.slot
        switch state.pointee.changes?[slot] {
        case .value(let value)?: return value == .integer(key)
        case .members(let members)?: return members.contains(key)
        case .unset?, .composite?, .pending?, nil: break
        }
        guard !relationship.isToMany, let row = lastRow, row.hasValue(at: slot) else { return false }
        return row.integer(at: slot) == key
    }
}
