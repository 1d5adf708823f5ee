// The values of an object that is being created, for its constants. They are read from the row of a fault.

extension Materialization {
    /// The value of an attribute; nil for null.
    public func attribute<V: StorableValue>(at slot: Int) -> V? {
        if let changed = changed(at: slot) {
            switch changed {
            case .value(let value): return V(storedValue: value)
            case .composite(let value): return (value as? RefusedValue)?.value as? V
            case .unset, .members, .pending: return nil
            }
        }
        let row = row(withValueAt: slot)
        return slot < row.slotCount && !row.isNull(at: slot) ? V.read(row, slot) : nil
    }

    /// The value of an attribute that is stored as JSON text: the value that was set, or the stored text. Both are nil
    /// for null.
    public func composite(at slot: Int) -> (value: (any CompositeValue)?, text: String?) {
        if case .composite(let value) = changed(at: slot) { return (value, nil) }
        return (nil, attribute(at: slot))
    }

    /// The value of a slot beyond the row; nil if it is unchanged.
    private func changed(at slot: Int) -> SlotValue? {
        guard let changes = entry.pointee.state.changes, slot < changes.slotCount, !changes[slot].isUnset else {
            return nil
        }
        return changes[slot]
    }

    /// A row that has the value in a slot; an empty row for an object that is in no store.
    ///
    /// The row of a fault is fetched, since the object stores the values of its constants.
    private func row(withValueAt slot: Int) -> Row {
        if let row = entry.pointee.state.row { return row }
        if let cached = entry.pointee.state.changes?.cachedRow?.row, cached.hasValue(at: slot) { return cached }
        guard entry.pointee.state.key > 0, let handler = entry.pointee.state.handler, let context = handler.context
        else { return .empty }
        return context.loader.row(of: handler.entity, key: entry.pointee.state.key, for: slot) ?? .empty
    }

    /// Reports that the value in a slot is not a value of the property's type. A missing required value is reported
    /// when the row is read.
    package func reportUnreadableValue(at slot: Int, as type: Any.Type) {
        guard let handler = entry.pointee.state.handler else { return }
        let row = row(withValueAt: slot)
        guard changed(at: slot) != nil || slot < row.slotCount && !row.isNull(at: slot) else { return }
        handler.readFailures?.add(
            .init(
                entityIndex: handler.entity.index,
                key: entry.pointee.state.key,
                slot: slot,
                cause: ReadFailures.UndecodableValue(type)
            )
        )
    }

    /// The object of class `type` that a to-one relationship leads to.
    public func destination(at slot: Int) -> (any GraphObject)? {
        guard let handler = entry.pointee.state.handler,
            case .relationship(let relationship) = handler.entity.properties[slot],
            let key: Int64 = attribute(at: slot), key != 0
        else { return nil }
        if let graph = handler.detachedGraph { return graph.object(forKey: key) }
        return handler.context?.loader.object(of: relationship.destination, key: key)
    }
}
