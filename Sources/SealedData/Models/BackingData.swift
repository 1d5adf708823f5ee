import ObjectGraph

/// The values of a model apart from the model: what a ``DataStoreSnapshot`` is made of.
///
/// A model holds its values itself, so that reading them costs nothing; its backing data is made when somebody asks for it.
public protocol BackingData<Model> {
    /// The class of the model.
    associatedtype Model: PersistentModel

    /// Makes the values of a new model: those that its properties start with.
    init(for modelClass: Model.Type)

    /// The identifier of the model. What is set is dropped: only a save gives a model another one.
    var persistentModelID: PersistentIdentifier? { get set }
    /// What the schema knows of the properties, as ``PersistentModel/schemaMetadata`` tells it.
    var metadata: Any { get }

    /// The value of an attribute.
    func getValue<Value: Decodable>(forKey key: KeyPath<Model, Value>) -> Value
    /// The destination of a relationship.
    func getValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value>) -> Value
    /// The destination of an optional relationship.
    func getValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value?>) -> Value?
    /// The members of a relationship.
    func getValue<Value: RelationshipCollection, OtherModel: PersistentModel>(
        forKey key: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement
    /// The members of a relationship to models that can be decoded.
    func getValue<Value: RelationshipCollection & Decodable, OtherModel: PersistentModel>(
        forKey key: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement

    /// Changes an attribute. A constant stays as it is.
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
    /// Changes the members of a relationship to models that can be encoded.
    func setValue<Value: RelationshipCollection & Encodable, OtherModel: PersistentModel>(
        forKey key: KeyPath<Model, Value>,
        to newValue: Value
    ) where OtherModel == Value.PersistentElement

    /// The value of an attribute that names a transformer.
    func getTransformableValue<Value>(forKey key: KeyPath<Model, Value>) -> Value
    /// Changes an attribute that names a transformer.
    func setTransformableValue<Value>(forKey key: KeyPath<Model, Value>, to newValue: Value)
}

extension PersistentModel {
    /// Makes the values of a new model of a class.
    public static func createBackingData<P: PersistentModel>() -> some BackingData<P> { ModelBackingData(for: P.self) }

    /// The model's values. Setting them copies the other ones; constants stay as they are.
    public var persistentBackingData: any BackingData<Self> {
        get { ModelBackingData(of: self) }
        set {
            guard let other = (newValue as? any BackingObject)?.backingObject, other !== self else { return }
            copyValues(of: other)
        }
    }

    /// The model's values, by the name that SwiftData's expansions give them; the same as ``persistentBackingData``.
    public var _$backingData: any BackingData<Self> {
        get { persistentBackingData }
        set { persistentBackingData = newValue }
    }

    /// Makes a model with the values of another one's backing data, or of one that ``createBackingData()`` made.
    /// Constants have their types' first values.
    public init(backingData: any BackingData<Self>) {
        let blank = BlankObject()
        self.init(_materializing: blank.materialization)
        blank.end()
        persistentBackingData = backingData
    }
}
