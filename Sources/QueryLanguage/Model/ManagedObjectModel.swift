/// The entities of an object graph, checked as a whole and linked with each other.
///
/// A model is immutable. It is made from declarations, which are also what is encoded, so that a store can keep its
/// model and a tool can open the store without the program that made it. Models of equal declarations share their
/// entities.
public final class ManagedObjectModel: Sendable {
    /// The entities, in the order of their declaration.
    public let entities: [Entity]
    /// The entities by name.
    public let entitiesByName: [String: Entity]
    /// All relationships; each stands at its ``Relationship/index``.
    public let relationships: [Relationship]

    /// Checks and links declarations.
    ///
    /// - Throws: ``ModelError`` with every problem there is, not only the first.
    public init(entities declarations: [EntityDescription]) throws(ModelError) {
        let linked = try LinkedEntities.shared(of: declarations)
        entities = linked.entities
        entitiesByName = linked.byName
        relationships = linked.relationships
    }

    /// The entity at the top of the inheritance of `entity`.
    public func root(of entity: Entity) -> Entity { entities[entity.rootIndex] }

    /// The declarations that the model was made from.
    public var declarations: [EntityDescription] { entities.map(\.description) }
}

extension ManagedObjectModel: Codable {
    private enum CodingKeys: String, CodingKey {
        case entities
    }

    /// Decodes declarations and links them.
    ///
    /// - Throws: ``ModelError`` where the declarations do not fit each other.
    public convenience init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(entities: container.decode([EntityDescription].self, forKey: .entities))
    }

    /// Encodes the declarations.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(declarations, forKey: .entities)
    }
}
