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
    /// The attributes that the entity adds to the inherited attributes.
    public var attributes: [AttributeDescription]
    /// The relationships that the entity adds to the inherited relationships.
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

extension EntityDescription {
    private enum CodingKeys: String, CodingKey {
        case name, superentity, isAbstract, attributes, relationships, propertyOrder, indexes, uniquenessConstraints
        case renamingIdentifier
    }

    /// The names of all properties, attributes before relationships.
    private var declaredNames: [String] { attributes.map(\.name) + relationships.map(\.name) }

    /// Decodes a declaration. Missing values have the defaults of the initializer.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(String.self, forKey: .name),
            superentity: try container.decodeIfPresent(String.self, forKey: .superentity),
            isAbstract: try container.decodeIfPresent(Bool.self, forKey: .isAbstract) ?? false,
            attributes: try container.decodeIfPresent([AttributeDescription].self, forKey: .attributes) ?? [],
            relationships: try container.decodeIfPresent([RelationshipDescription].self, forKey: .relationships) ?? [],
            propertyOrder: try container.decodeIfPresent([String].self, forKey: .propertyOrder),
            indexes: try container.decodeIfPresent([FetchIndexDescription].self, forKey: .indexes) ?? [],
            uniquenessConstraints: try container.decodeIfPresent([[String]].self, forKey: .uniquenessConstraints) ?? [],
            renamingIdentifier: try container.decodeIfPresent(String.self, forKey: .renamingIdentifier)
        )
        if propertyOrder == [] { propertyOrder = declaredNames }
    }

    /// Encodes the declaration without default values. A ``propertyOrder`` of attributes before relationships is
    /// encoded as an empty list.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encodeIfPresent(superentity, forKey: .superentity)
        if isAbstract { try container.encode(isAbstract, forKey: .isAbstract) }
        if !attributes.isEmpty { try container.encode(attributes, forKey: .attributes) }
        if !relationships.isEmpty { try container.encode(relationships, forKey: .relationships) }
        let order = propertyOrder == declaredNames ? [] : propertyOrder
        try container.encodeIfPresent(order, forKey: .propertyOrder)
        if !indexes.isEmpty { try container.encode(indexes, forKey: .indexes) }
        if !uniquenessConstraints.isEmpty {
            try container.encode(uniquenessConstraints, forKey: .uniquenessConstraints)
        }
        try container.encodeIfPresent(renamingIdentifier, forKey: .renamingIdentifier)
    }
}
