import ObjectGraph

/// The values of a model, separate from the model. A ``DataStoreSnapshot`` is created from them.
///
/// A model stores its values itself, so that reading them needs no further object. Its backing data is created on
/// access.
public protocol BackingData<Model> {
    /// The class of the model.
    associatedtype Model: PersistentModel

    /// Makes the values of a new model: the initial values of its properties.
    init(for modelClass: Model.Type)

    /// The identifier of the model. The setter has no effect: only a save changes an identifier.
    var persistentModelID: PersistentIdentifier? { get set }
    /// The schema metadata of the properties: ``PersistentModel/schemaMetadata``.
    var metadata: Any { get }

    /// Returns the value of an attribute.
    func getValue<Value: Decodable>(forKey key: KeyPath<Model, Value>) -> Value
    /// Returns the destination of a relationship.
    func getValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value>) -> Value
    /// Returns the destination of an optional relationship.
    func getValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value?>) -> Value?
    /// Returns the members of a relationship.
    func getValue<Value: RelationshipCollection, OtherModel: PersistentModel>(
        forKey key: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement
    /// Returns the members of a relationship to decodable models.
    func getValue<Value: RelationshipCollection & Decodable, OtherModel: PersistentModel>(
        forKey key: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement

    /// Changes an attribute. A constant stays unchanged.
    func setValue<Value: Encodable>(forKey key: KeyPath<Model, Value>, to newValue: Value)
    /// Changes a relationship.
    func setValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value>, to newValue: Value)
    /// Changes an optional relationship.
    func setValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value?>, to newValue: Value?)
    /// Changes the members of a relationship.
    func setValue<Value: RelationshipCollection, OtherModel: PersistentModel>(
        forKey key: KeyPath<Model, Value>,
        to newValue: Value
    ) where OtherModel == Value.PersistentElement
    /// Changes the members of a relationship to encodable models.
    func setValue<Value: RelationshipCollection & Encodable, OtherModel: PersistentModel>(
        forKey key: KeyPath<Model, Value>,
        to newValue: Value
    ) where OtherModel == Value.PersistentElement

    /// Returns the value of an attribute with a value transformer.
    func getTransformableValue<Value>(forKey key: KeyPath<Model, Value>) -> Value
    /// Changes an attribute with a value transformer.
    func setTransformableValue<Value>(forKey key: KeyPath<Model, Value>, to newValue: Value)
}

extension PersistentModel {
    /// Creates the values of a new model of a class.
    public static func createBackingData<P: PersistentModel>() -> some BackingData<P> { ModelBackingData(for: P.self) }

    /// The model's values. The setter copies the given values, except the values of constants.
    public var persistentBackingData: any BackingData<Self> {
        get { ModelBackingData(of: self) }
        set {
            guard let other = (newValue as? any BackingObject)?.backingObject, other !== self else { return }
            copyValues(of: other)
        }
    }

    /// The model's values, for code that does not know the model's class.
    var anyBackingData: any BackingData { persistentBackingData }

    /// The backing data under the name that SwiftData's expansions use, see ``persistentBackingData``.
    public var _$backingData: any BackingData<Self> {
        get { persistentBackingData }
        set { persistentBackingData = newValue }
    }

    /// Makes a model with the values of another model's backing data, or of ``createBackingData()``. Constants have the
    /// default values of their types.
    public init(backingData: any BackingData<Self>) {
        let blank = BlankObject()
        self.init(_materializing: blank.materialization)
        blank.end()
        persistentBackingData = backingData
    }
}
