/// A collection of models that a property can hold: an array, or an optional one.
public protocol RelationshipCollection {
    /// The class of the models.
    associatedtype PersistentElement: PersistentModel

    /// Makes the collection.
    init(_$models: [PersistentElement])

    /// The models.
    var _$models: [PersistentElement] { get }
}

extension Array: RelationshipCollection where Element: PersistentModel {
    /// The class of the models.
    public typealias PersistentElement = Element

    /// Makes the collection.
    public init(_$models: [Element]) { self = _$models }

    /// The models.
    public var _$models: [Element] { self }
}

extension Optional: RelationshipCollection where Wrapped: Sequence & RelationshipCollection {
    /// The class of the models.
    public typealias PersistentElement = Wrapped.PersistentElement

    /// Makes the collection; it is never nil.
    public init(_$models: [Wrapped.PersistentElement]) { self = Wrapped(_$models: _$models) }

    /// The models; empty if the value is nil.
    public var _$models: [Wrapped.PersistentElement] { self?._$models ?? [] }
}
