/// Records the changes of a context's objects while the context has an undo manager.
///
/// Only the first value of a slot since the last ``take(saveCount:)`` is recorded: an undo restores that value. The
/// attributes of an object that was inserted since are not recorded (see ``ObjectFlags/recordsChanges``), since undo
/// and redo remove and insert the object with them.
final class ChangeRecorder {
    private struct ObjectSlot: Hashable {
        let object: ObjectIdentifier
        let slot: Int
    }

    private(set) var changes: [RecordedChange] = []
    private var recordedSlots: Set<ObjectSlot> = []

    // MARK: Objects

    /// An object was inserted, or its deletion was reverted.
    func didInsert(_ object: any GraphObject) { changes.append(.insertion(object)) }

    /// An object is about to be deleted.
    func willDelete(_ object: any GraphObject) { changes.append(.deletion(object)) }

    // MARK: Values

    /// An attribute is about to change.
    func willSetValue(of object: any GraphObject, at slot: Int) {
        guard isFirst(object, slot) else { return }
        changes.append(.value(of: object, slot: slot, object.slotValue(slot)))
    }

    /// The key of a to-one relationship's destination is about to change.
    func willSetDestination(of object: any GraphObject, at slot: Int) {
        guard case .relationship(let relationship) = object.entity.properties[slot], isFirst(object, slot) else {
            return
        }
        let old = object.reference(to: object.destinationKey(at: slot), along: relationship)
        changes.append(.destination(of: object, slot: slot, old))
    }

    // MARK: Members

    /// A to-many relationship has got a member.
    ///
    /// - Parameter isRestored: Whether a removed member was restored.
    func didAdd(_ key: Int64, to object: any GraphObject, _ relationship: Relationship, isRestored: Bool = false) {
        let member = object.reference(to: key, along: relationship)
        changes.append(.arrival(member, at: object, relationship, isRestored: isRestored))
    }

    /// A to-many relationship has lost a member.
    func didRemove(
        _ key: Int64,
        from object: any GraphObject,
        _ relationship: Relationship,
        _ removal: ToManyMembers.Removal
    ) {
        changes.append(.departure(object.reference(to: key, along: relationship), from: object, relationship, removal))
    }

    /// The order of an ordered relationship, whose members are loaded, is about to change.
    func willChangeOrder(of object: any GraphObject, _ relationship: Relationship, _ members: ToManyMembers) {
        guard relationship.isOrdered, members.isLoaded, isFirst(object, relationship.slot) else { return }
        let order = members.keys.map { object.reference(to: $0, along: relationship) }
        changes.append(.order(of: object, relationship, order, storedAt: members.storedOrder))
    }

    // MARK: Groups

    /// Whether nothing has been recorded since the last ``take(saveCount:)``.
    var isEmpty: Bool { changes.isEmpty }

    /// Returns the recorded changes, and removes them from the recorder.
    func take(saveCount: Int) -> RecordedChanges {
        var related: [Int64: any GraphObject] = [:]
        for case .deletion(let object) in changes { object.collectTemporaryKeys(into: &related) }
        let taken = RecordedChanges(changes: changes, saveCount: saveCount, relatedByTemporaryKey: related)
        changes = []
        recordedSlots = []
        for case .insertion(let object) in taken.changes { object.state.pointee.flags.insert(.recordsChanges) }
        return taken
    }

    private func isFirst(_ object: any GraphObject, _ slot: Int) -> Bool {
        // Recorded objects are retained, so that no two of them can have the same identity.
        recordedSlots.insert(ObjectSlot(object: ObjectIdentifier(object), slot: slot)).inserted
    }
}

extension GraphObject {
    /// The recorder of the object's changes; nil if its context has no undo manager, or it has no context.
    var recorder: ChangeRecorder? {
        let context = state.borrowedHandler?._withUnsafeGuaranteedRef { $0.borrowedContext }
        return context?._withUnsafeGuaranteedRef { $0.changeTracker.recorder }
    }

    /// The reference to the object with a key in recorded changes.
    fileprivate func reference(to key: Int64, along relationship: Relationship) -> RecordedReference {
        guard key < 0,
            let object = state.pointee.handler?.context?.identityMap.destination(forKey: key, of: relationship)
        else { return .key(key) }
        return .object(object)
    }

    /// Adds the destinations with temporary keys of the object's relationships.
    fileprivate func collectTemporaryKeys(into related: inout [Int64: any GraphObject]) {
        guard let changes = state.pointee.changes, let context = state.pointee.handler?.context else { return }
        for relationship in entity.relationships {
            func add(_ key: Int64) {
                if key < 0 { related[key] = context.identityMap.destination(forKey: key, of: relationship) }
            }
            switch changes[relationship.slot] {
            case .value(.integer(let key)): add(key)
            case .members(let members): for key in members.keys { add(key) }
            default: break
            }
        }
    }
}
