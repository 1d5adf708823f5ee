// SwiftData can read and write the properties of models by key path, and generic code uses that. Direct property access
// does the same faster.

extension PersistentModel {
    // MARK: Reading

    /// Returns the value of an attribute.
    @_disfavoredOverload
    public func getValue<Value: Decodable>(forKey key: KeyPath<Self, Value>) -> Value { self[keyPath: key] }

    /// Returns the destination of a relationship.
    public func getValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value>) -> Value { self[keyPath: key] }

    /// Returns the destination of an optional relationship.
    public func getValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value?>) -> Value? { self[keyPath: key] }

    /// Returns the members of a relationship.
    public func getValue<Value: RelationshipCollection, OtherModel: PersistentModel>(
        forKey key: KeyPath<Self, Value>
    ) -> Value where OtherModel == Value.PersistentElement { self[keyPath: key] }

    /// Returns the members of a relationship to decodable models.
    public func getValue<Value: RelationshipCollection & Decodable, OtherModel: PersistentModel>(
        forKey key: KeyPath<Self, Value>
    ) -> Value where OtherModel == Value.PersistentElement { self[keyPath: key] }

    /// Returns the value of an attribute with a value transformer.
    public func getTransformableValue<Value>(forKey key: KeyPath<Self, Value>) -> Value { self[keyPath: key] }

    // MARK: Writing

    /// Changes an attribute. A constant stays unchanged.
    @_disfavoredOverload
    public func setValue<Value: Encodable>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
        set(newValue, key)
    }

    /// Changes a relationship.
    public func setValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
        set(newValue, key)
    }

    /// Changes an optional relationship.
    public func setValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value?>, to newValue: Value?) {
        set(newValue, key)
    }

    /// Changes the members of a relationship.
    public func setValue<Value: RelationshipCollection, OtherModel: PersistentModel>(
        forKey key: KeyPath<Self, Value>,
        to newValue: Value
    ) where OtherModel == Value.PersistentElement { set(newValue, key) }

    /// Changes the members of a relationship to encodable models.
    public func setValue<Value: RelationshipCollection & Encodable, OtherModel: PersistentModel>(
        forKey key: KeyPath<Self, Value>,
        to newValue: Value
    ) where OtherModel == Value.PersistentElement { set(newValue, key) }

    /// Changes an attribute with a value transformer.
    public func setTransformableValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
        set(newValue, key)
    }

    private func set<Value>(_ value: Value, _ key: KeyPath<Self, Value>) {
        if let key = key as? ReferenceWritableKeyPath<Self, Value> { self[keyPath: key] = value }
    }
}
