extension GraphObject {
    /// Changes the value of an attribute, and tells the context.
    @usableFromInline
    func setSlotValue(_ value: SlotValue, at slot: Int) {
        if _$state.chunk == nil, _$state.handler != nil { fireFault() }
        ensureChanges()[slot] = value
        didChange()
    }
}
