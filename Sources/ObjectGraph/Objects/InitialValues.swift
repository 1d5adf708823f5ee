/// A receiver of the first values of a new object's properties while its initializer runs.
public protocol InitialValues {
    /// Sets an attribute.
    mutating func initialize(_ slot: Int, attribute value: Value)
    /// Sets an attribute that is stored as JSON text.
    mutating func initialize(_ slot: Int, composite value: any CompositeValue)
    /// Sets a relationship. The inverse is set after the object is complete.
    mutating func initialize(_ slot: Int, related objects: [any GraphObject])
}

extension InitialValues {
    /// Sets an attribute. A value that its type refuses to store remains readable; a save reports it.
    @inlinable
    public mutating func initialize<V: StorableValue>(_ slot: Int, storing value: V) {
        do {
            initialize(slot, attribute: try value.storedValue)
        } catch {
            initialize(slot, composite: RefusedValue(value, error))
        }
    }
}

extension ObjectState: InitialValues {
    /// Sets an attribute while the object is being initialized.
    @inlinable
    public mutating func initialize(_ slot: Int, attribute value: Value) { initialize(slot, to: .value(value)) }

    /// Sets an attribute that is stored as JSON text while the object is being initialized.
    public mutating func initialize(_ slot: Int, composite value: any CompositeValue) {
        initialize(slot, to: .composite(value))
    }

    /// Sets a relationship while the object is being initialized. The inverse is set after the object is complete.
    public mutating func initialize(_ slot: Int, related objects: [any GraphObject]) {
        initialize(slot, to: objects.isEmpty ? .unset : .pending(objects))
    }
}

extension AddedValues: InitialValues {
    /// Sets an attribute while the object is being initialized.
    @inlinable
    public mutating func initialize(_ slot: Int, attribute value: Value) { changes?[slot] = .value(value) }

    /// Sets an attribute that is stored as JSON text while the object is being initialized.
    public mutating func initialize(_ slot: Int, composite value: any CompositeValue) {
        changes?[slot] = .composite(value)
    }

    /// Sets a relationship while the object is being initialized. The inverse is set after the object is complete.
    public mutating func initialize(_ slot: Int, related objects: [any GraphObject]) {
        changes?[slot] = objects.isEmpty ? .unset : .pending(objects)
    }
}
