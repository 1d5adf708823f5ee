/// Anything that describes a property of a model: ``Schema/Attribute``, ``Schema/Relationship``, and the rules over
/// several properties, ``Schema/Index`` and ``Schema/Unique``.
public protocol SchemaProperty: Codable, Hashable {
    /// The name, unique among the properties of an entity.
    var name: String { get set }
    /// The name in the previous schema; the same as ``name`` unless the property was renamed.
    var originalName: String { get set }
    /// The Swift type of the property.
    var valueType: any Any.Type { get set }
    /// Whether this is an attribute.
    var isAttribute: Bool { get }
    /// Whether this is a relationship.
    var isRelationship: Bool { get }
    /// Whether the property is kept out of the store.
    var isTransient: Bool { get }
    /// Whether the property may be nil.
    var isOptional: Bool { get }
    /// Whether at most one object has a given value.
    var isUnique: Bool { get }
}

extension SchemaProperty {
    /// The empty string; what is set is dropped.
    public var name: String {
        get { "" }
        set {}
    }
    /// The name; what is set is dropped.
    public var originalName: String {
        get { name }
        set {}
    }
    /// `Any`; what is set is dropped.
    public var valueType: any Any.Type {
        get { Any.self }
        set {}
    }
    /// False.
    public var isAttribute: Bool { false }
    /// False.
    public var isRelationship: Bool { false }
    /// False.
    public var isTransient: Bool { false }
    /// False.
    public var isOptional: Bool { false }
}
