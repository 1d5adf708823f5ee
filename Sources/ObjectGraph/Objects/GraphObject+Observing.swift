// Objects that somebody observes tell which of their properties change, whoever changes them. The others pay for it with
// the test of a flag.

extension GraphObject {
    /// Makes the object call ``_$willChange(at:)`` and ``_$didChange(at:)`` from now on.
    public func _$beginObserving() {
        state.pointee.flags.insert(.observed)
        state.pointee.handler?.context?.hasObservedObjects = true
    }

    /// Nobody observes objects of other classes than models.
    public func _$willChange(at slot: Int) {}

    /// Nobody observes objects of other classes than models.
    public func _$didChange(at slot: Int) {}

    @inline(__always)
    private var isObserved: Bool { state.pointee.flags.contains(.observed) }

    /// Changes the property in a slot, telling observers before and after.
    @inline(__always)
    func changing<R>(_ slot: Int, _ change: () -> R) -> R {
        guard isObserved else { return change() }
        _$willChange(at: slot)
        defer { _$didChange(at: slot) }
        return change()
    }

    // MARK: Changes that came from elsewhere

    // Which properties change is known only when it has happened, so that observers are told of both at once.

    /// Replaces the row, and what a fault had at hand of it.
    func replaceRow(by row: Row) {
        let old = lastRow
        state.pointee.row = row
        dropCachedRow()
        if isObserved, let old { tellObservers(ofChangesFrom: old, to: row) }
    }

    /// Makes the object a fault that has a later row at hand.
    func replaceRow(by cached: CachedRow) {
        let old = lastRow
        state.pointee.row = nil
        ensureChanges().cachedRow = cached
        if isObserved, let old { tellObservers(ofChangesFrom: old, to: cached.row) }
    }

    private func tellObservers(ofChangesFrom old: Row, to new: Row) {
        let changes = state.pointee.changes
        for slot in 0..<max(old.slotCount, new.slotCount) where changes?[slot].isUnset ?? true {
            // Of a value that was not read, before, nobody has seen anything; what it is now, nobody knows.
            guard old.tells(slot) else { continue }
            if !new.tells(slot) || old.differs(from: new, at: slot) { tellObservers(slot) }
        }
    }

    /// Drops all changes.
    func dropChanges() {
        guard let changes = state.pointee.changes else { return }
        state.pointee.changes = nil
        guard isObserved else { return }
        for slot in 0..<changes.slotCount {
            switch changes[slot] {
            case .unset: continue
            case .value(let value): if state.pointee.row?.holds(value, at: slot) ?? false { continue }
            case .members(let members): if !members.isChanged { continue }
            case .composite, .pending: break
            }
            tellObservers(slot)
        }
    }

    /// Forgets what the store has of a to-many relationship, so that the next reader asks it. An object that is gone keeps
    /// the last ones, with which an undo can bring it back.
    func unloadMembers(of relationship: Relationship) {
        guard !state.pointee.life.isMissing,
            let members = state.pointee.changes?.members(at: relationship.slot), members.isLoaded
        else { return }
        members.unload()
        if isObserved { tellObservers(relationship.slot) }
    }

    /// Tells observers that any property may have changed.
    func tellObserversOfAll() {
        guard isObserved else { return }
        for slot in 0..<entity.slotCount { tellObservers(slot) }
    }

    private func tellObservers(_ slot: Int) {
        _$willChange(at: slot)
        _$didChange(at: slot)
    }
}

extension Row {
    /// Whether a slot holds another value than that of another row, as far as both have read it.
    fileprivate func differs(from other: Row, at slot: Int) -> Bool {
        guard slot < slotCount, slot < other.slotCount else {
            return valueOrNull(at: slot) != other.valueOrNull(at: slot)
        }
        if tag(at: slot) == .deferredBlob || other.tag(at: slot) == .deferredBlob { return true }
        return !holds(other.value(at: slot), at: slot)
    }
}
