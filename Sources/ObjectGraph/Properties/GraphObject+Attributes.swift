extension GraphObject {
    /// The value of an attribute's slot; the type's zero for null.
    ///
    /// - Complexity: a load from the row for an object without changes.
    @inlinable @inline(__always)
    public func _$attribute<V: StorableValue>(at slot: Int, as type: V.Type = V.self) -> V {
        if _$state.changes == nil, let chunk = _$state.chunk {
            return V.read(Row(chunk: chunk, offset: _$state.rowOffset), slot)
        }
        return changedAttribute(at: slot) ?? V.read(Row.nullSlot, 0)
    }

    /// The value of an optional attribute's slot; nil for a value that cannot be read.
    @inlinable @inline(__always)
    public func _$optionalAttribute<V: StorableValue>(at slot: Int, as type: V.Type = V.self) -> V? {
        if _$state.changes == nil, let chunk = _$state.chunk {
            let row = Row(chunk: chunk, offset: _$state.rowOffset)
            let tag = row.tag(at: slot)
            if tag == .deferredBlob { return row.knownDeferredBlob(at: slot).flatMap { V(storedValue: .blob($0)) } }
            return tag == .null ? nil : V.read(row, slot)
        }
        return changedAttribute(at: slot)
    }

    /// The value of a slot of an object that is changed, new or a fault.
    @inlinable @inline(never)
    func changedAttribute<V: StorableValue>(at slot: Int) -> V? {
        guard case .value(let value) = slotValue(slot) else { return refusedAttribute(at: slot) }
        return V(storedValue: value)
    }

    /// The value that was set and that its type refuses to store; nil for other slots.
    @usableFromInline
    func refusedAttribute<V: StorableValue>(at slot: Int) -> V? {
        guard case .composite(let value) = slotValue(slot) else { return nil }
        return (value as? RefusedValue)?.value as? V
    }

    /// The value of a slot that is stored as JSON text: the value that was set, or the stored text. Both are nil for
    /// null.
    public func _$composite(at slot: Int) -> (value: (any CompositeValue)?, text: String?) {
        switch slotValue(slot) {
        case .composite(let value): (value, nil)
        case .value(.text(let text)): (nil, text)
        case .value, .unset, .members, .pending: (nil, nil)
        }
    }

    /// Changes the value of an attribute, and lists the object as changed.
    @inlinable @inline(__always)
    public func _$setAttribute(_ value: Value, at slot: Int) {
        setSlotValue(.value(value), at: slot)
    }

    /// Changes the value of an attribute, and lists the object as changed. A value that its type refuses to store remains
    /// readable; a save reports it.
    @inlinable @inline(__always)
    public func _$setAttribute<V: StorableValue>(storing value: V, at slot: Int) {
        do {
            setSlotValue(.value(try value.storedValue), at: slot)
        } catch {
            setSlotValue(.composite(RefusedValue(value, error)), at: slot)
        }
    }

    /// Changes the value of an attribute that is stored as JSON text, and lists the object as changed.
    public func _$setComposite(_ value: any CompositeValue, at slot: Int) {
        setSlotValue(.composite(value), at: slot)
    }

    /// Changes a slot, and lists the object as changed.
    @inlinable @inline(__always)
    func setSlotValue(_ value: SlotValue, at slot: Int) {
        // A new object, in a context or not: a save writes all its values.
        if let changes = _$state.changes, _$state.chunk == nil, slot < changes.slotCount,
            _$state.flags.isDisjoint(with: [.recordsChanges, .observed, .followed]),
            _$state.handler == nil || _$state.life.isInserted
        {
            changes[slot] = value
        } else {
            changeSavedSlot(value, at: slot)
        }
    }

    @usableFromInline
    func changeSavedSlot(_ value: SlotValue, at slot: Int) {
        completeStateIfNeeded()
        let state = state
        if state.borrowedChunk == nil, state.borrowedHandler != nil { fireFault() }
        recorder?.willSetValue(of: self, at: slot)
        changing(slot) {
            if let changes = state.borrowedChanges, !changes._withUnsafeGuaranteedRef({ $0.isComposite(at: slot) }) {
                changes._withUnsafeGuaranteedRef { $0[slot] = value }
            } else {
                ensureChanges()[slot] = value
            }
            noteChange()
            if state.pointee.life.isMissing { state.pointee.handler?.context?.changeTracker.markChanged(self) }
        }
    }

    /// A substitute for an object that does not exist: it is in no graph, has no values and counts as deleted.
    public static func _$placeholder(slotCount: Int) -> Self {
        var state = ObjectState(slotCount: slotCount)
        state.life.markMissing()
        return make(with: state)
    }

    /// An object in no graph with given values. Unlike in a new object, constants have the given values, too.
    package static func sample(slotCount: Int, values: (inout ObjectState) -> Void) -> Self {
        var state = ObjectState(slotCount: slotCount)
        values(&state)
        return make(with: state)
    }

    private static func make(with state: consuming ObjectState) -> Self {
        var entry = PendingState.Entry(stateClass: nil, state: state)
        let object = PendingState.with(&entry) {
            PendingState.makeObject(Self.self, stateClass: ObjectIdentifier(Self._$stateClass), $0)
        }
        guard let object = object as? Self else { preconditionFailure("an initializer makes an object of its class") }
        return object
    }
}
