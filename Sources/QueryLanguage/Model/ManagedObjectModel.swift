/// The entities of an object graph, checked as a whole and linked with each other.
///
/// A model is immutable. It encodes its declarations, so that a store contains its model and a tool can open the store
/// without the program that created it. Models of equal declarations share their entities.
public final class ManagedObjectModel: Sendable {
    /// The entities, in the order of their declaration.
    public let entities: [Entity]
    /// The entities by name.
    public let entitiesByName: [String: Entity]
    /// All relationships, each at its ``Relationship/index``.
    public let relationships: [Relationship]

    /// Checks and links declarations.
    ///
    /// - Throws: ``ModelError`` with all problems, not only the first.
    public init(entities declarations: [EntityDescription]) throws(ModelError) {
        let linked = try LinkedEntities.shared(of: declarations)
        entities = linked.entities
        entitiesByName = linked.byName
        relationships = linked.relationships
    }

    /// Returns the topmost ancestor of `entity`, or `entity` itself.
    public func root(of entity: Entity) -> Entity { entities[entity.rootIndex] }

    /// The declarations of the entities.
    public var declarations: [EntityDescription] { entities.map(\.description) }
}

extension ManagedObjectModel: Codable {
    private enum CodingKeys: String, CodingKey {
        case entities
    }

    /// Decodes declarations and links them.
    ///
    /// - Throws: ``ModelError`` if the declarations contradict each other.
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
