/// The declaration of an entity. A ``ManagedObjectModel`` checks and links declarations into entities.
///
/// ```swift
/// let library = try ManagedObjectModel(entities: [
///     EntityDescription("Author", attributes: [AttributeDescription("name", .string)],
///         relationships: [RelationshipDescription("books", to: "Book", .many, inverse: "author")]),
///     EntityDescription("Book", attributes: [AttributeDescription("title", .string)],
///         relationships: [RelationshipDescription("author", to: "Author", .one, inverse: "books")]),
/// ])
/// ```
public struct EntityDescription: Codable, Hashable, Sendable {
    /// The name, unique within a model.
    public var name: String
    /// The name of the entity from which this entity inherits.
    public var superentity: String?
    /// Whether only the subentities of the entity have objects.
    public var isAbstract: Bool
    /// The attributes that the entity adds to the inherited ones.
    public var attributes: [AttributeDescription]
    /// The relationships that the entity adds to the inherited ones.
    public var relationships: [RelationshipDescription]
    /// The order of the properties' slots, by name; nil for attributes before relationships.
    public var propertyOrder: [String]?
    /// The indexes that a store builds.
    public var indexes: [FetchIndexDescription]
    /// Lists of property names whose values together are unique among the entity's objects.
    public var uniquenessConstraints: [[String]]
    /// The name that the entity had in an earlier version of the model.
    public var renamingIdentifier: String?

    /// Creates a declaration.
    public init(
        _ name: String,
        superentity: String? = nil,
        isAbstract: Bool = false,
        attributes: [AttributeDescription] = [],
        relationships: [RelationshipDescription] = [],
        propertyOrder: [String]? = nil,
        indexes: [FetchIndexDescription] = [],
        uniquenessConstraints: [[String]] = [],
        renamingIdentifier: String? = nil
    ) {
        self.name = name
        self.superentity = superentity
        self.isAbstract = isAbstract
        self.attributes = attributes
        self.relationships = relationships
        self.propertyOrder = propertyOrder
        self.indexes = indexes
        self.uniquenessConstraints = uniquenessConstraints
        self.renamingIdentifier = renamingIdentifier
    }
}
