import ObjectGraph

/// Backing data that is backed by an object.
protocol BackingObject {
    var backingObject: any GraphObject { get }
}

/// The values of a model, read from the model itself.
final class ModelBackingData<Model: PersistentModel>: BackingData, BackingObject {
    private let model: Model

    var backingObject: any GraphObject { model }

    init(of model: Model) {
        self.model = model
    }

    init(for modelClass: Model.Type) {
        model = modelClass.blank()
    }

    var persistentModelID: PersistentIdentifier? {
        get { model.persistentModelID }
        set {}
    }

    var metadata: Any { Model.schemaMetadata }

    // MARK: Reading

    func getValue<Value: Decodable>(forKey key: KeyPath<Model, Value>) -> Value { model.getValue(forKey: key) }

    func getValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value>) -> Value { model.getValue(forKey: key) }

    func getValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value?>) -> Value? { model.getValue(forKey: key) }

    func getValue<Value: RelationshipCollection, OtherModel: PersistentModel>(
        forKey key: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement { model.getValue(forKey: key) }

    func getValue<Value: RelationshipCollection & Decodable, OtherModel: PersistentModel>(
        forKey key: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement { model.getValue(forKey: key) }

    func getTransformableValue<Value>(forKey key: KeyPath<Model, Value>) -> Value {
        model.getTransformableValue(forKey: key)
    }

    // MARK: Writing

    func setValue<Value: Encodable>(forKey key: KeyPath<Model, Value>, to newValue: Value) {
        model.setValue(forKey: key, to: newValue)
    }

    func setValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value>, to newValue: Value) {
        model.setValue(forKey: key, to: newValue)
    }

    func setValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value?>, to newValue: Value?) {
        model.setValue(forKey: key, to: newValue)
    }

    func setValue<Value: RelationshipCollection, OtherModel: PersistentModel>(
        forKey key: KeyPath<Model, Value>,
        to newValue: Value
    ) where OtherModel == Value.PersistentElement { model.setValue(forKey: key, to: newValue) }

    func setValue<Value: RelationshipCollection & Encodable, OtherModel: PersistentModel>(
        forKey key: KeyPath<Model, Value>,
        to newValue: Value
    ) where OtherModel == Value.PersistentElement { model.setValue(forKey: key, to: newValue) }

    func setTransformableValue<Value>(forKey key: KeyPath<Model, Value>, to newValue: Value) {
        model.setTransformableValue(forKey: key, to: newValue)
    }
}

extension GraphObject {
    /// Copies the values of another object with the same properties.
    func copyValues(of other: any GraphObject) {
        for property in managedObjectID.entity.properties {
            let slot = property.slot
            switch property {
            case .attribute:
                if let refused = other._$composite(at: slot).value as? RefusedValue {
                    _$setComposite(refused, at: slot)
                } else {
                    _$setAttribute(other._$storedValue(at: slot), at: slot)
                }
            case .relationship(let relationship) where relationship.isToMany:
                setMembers(other.memberObjects(at: slot), at: slot)
            case .relationship: setDestination(other.destination(at: slot), at: slot)
            }
        }
    }
}
