// An observed object reports each change of its properties, whatever the cause. Other objects only test a flag.

extension GraphObject {
    /// Does nothing: only models have observers.
    public func _$willChange(at slot: Int) {}

    /// Does nothing: only models have observers.
    public func _$didChange(at slot: Int) {}

    @inline(__always)
    private var isObserved: Bool { state.pointee.flags.contains(.observed) }

    /// Changes the property in a slot, and notifies observers before and after.
    @inline(__always)
    func changing<R>(_ slot: Int, _ change: () -> R) -> R {
        guard state.pointee.flags.isDisjoint(with: [.observed, .followed]) else { return reporting(slot, change) }
        return change()
    }

    @inline(never)
    private func reporting<R>(_ slot: Int, _ change: () -> R) -> R {
        if state.pointee.flags.contains(.followed) {
            state.pointee.handler?.context?.changeCollector.noteChange(of: self, at: slot)
        }
        guard isObserved else { return change() }
        _$willChange(at: slot)
        defer { _$didChange(at: slot) }
        return change()
    }

    // MARK: Changes of rows

    // The properties that a new row changes are known only after the object has the row, so that both notifications
    // follow the change.

    /// Notifies observers of the properties whose values differ between two successive rows.
    func notifyObservers(ofChangesFrom old: Row, to new: Row) {
        guard isObserved else { return }
        let changes = state.pointee.changes
        for slot in 0..<max(old.slotCount, new.slotCount) where changes?[slot].isUnset ?? true {
            // A value that the old row lacks has not been observed. If the new row lacks it, it is unknown whether the
            // value has changed.
            guard old.hasValue(at: slot) else { continue }
            if !new.hasValue(at: slot) || old.differs(from: new, at: slot) { notifyObservers(of: slot) }
        }
    }

    /// Notifies observers of the properties whose changes were dropped.
    func notifyObservers(ofDropped changes: ObjectChanges) {
        guard isObserved else { return }
        for slot in 0..<changes.slotCount {
            switch changes[slot] {
            case .unset: continue
            case .value(let value): if state.pointee.row?.holds(value, at: slot) ?? false { continue }
            case .members(let members): if !members.isChanged { continue }
            case .composite, .pending: break
            }
            notifyObservers(of: slot)
        }
    }

    /// Notifies observers that any property may have changed.
    func notifyObserversOfAllProperties() {
        guard isObserved else { return }
        for slot in 0..<entity.slotCount { notifyObservers(of: slot) }
    }

    /// Notifies observers of a change of the property in a slot.
    func notifyObservers(of slot: Int) {
        guard isObserved else { return }
        _$willChange(at: slot)
        _$didChange(at: slot)
    }
}
