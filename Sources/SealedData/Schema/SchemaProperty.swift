/// A description of a property of a model, ``Schema/Attribute`` or ``Schema/Relationship``, or of a rule over several
/// properties, ``Schema/Index`` or ``Schema/Unique``.
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
    /// Whether the property is not stored.
    var isTransient: Bool { get }
    /// Whether the property may be nil.
    var isOptional: Bool { get }
    /// Whether values are unique.
    var isUnique: Bool { get }
}

extension SchemaProperty {
    /// The empty string. The setter has no effect.
    public var name: String {
        get { "" }
        set {}
    }
    /// The name. The setter has no effect.
    public var originalName: String {
        get { name }
        set {}
    }
    /// `Any`. The setter has no effect.
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
