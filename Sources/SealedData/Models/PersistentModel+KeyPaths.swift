// SwiftData reads and writes the properties of models by key path, and so may code that is generic over models. The
// properties themselves do the same faster.

extension PersistentModel {
    // MARK: Reading

    /// The value of an attribute.
    @_disfavoredOverload
    public func getValue<Value: Decodable>(forKey key: KeyPath<Self, Value>) -> Value { self[keyPath: key] }

    /// The destination of a relationship.
    public func getValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value>) -> Value { self[keyPath: key] }

    /// The destination of an optional relationship.
    public func getValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value?>) -> Value? { self[keyPath: key] }

    /// The members of a relationship.
    public func getValue<Value: RelationshipCollection, OtherModel: PersistentModel>(
        forKey key: KeyPath<Self, Value>
    ) -> Value where OtherModel == Value.PersistentElement { self[keyPath: key] }

    /// The members of a relationship to models that can be decoded.
    public func getValue<Value: RelationshipCollection & Decodable, OtherModel: PersistentModel>(
        forKey key: KeyPath<Self, Value>
    ) -> Value where OtherModel == Value.PersistentElement { self[keyPath: key] }

    /// The value of an attribute that names a transformer.
    public func getTransformableValue<Value>(forKey key: KeyPath<Self, Value>) -> Value { self[keyPath: key] }

    // MARK: Writing

    /// Changes an attribute. A constant stays as it is.
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

    /// Changes the members of a relationship to models that can be encoded.
    public func setValue<Value: RelationshipCollection & Encodable, OtherModel: PersistentModel>(
        forKey key: KeyPath<Self, Value>,
        to newValue: Value
    ) where OtherModel == Value.PersistentElement { set(newValue, key) }

    /// Changes an attribute that names a transformer.
    public func setTransformableValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
        set(newValue, key)
    }

    private func set<Value>(_ value: Value, _ key: KeyPath<Self, Value>) {
        if let key = key as? ReferenceWritableKeyPath<Self, Value> { self[keyPath: key] = value }
    }
}
