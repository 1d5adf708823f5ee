/// An entity of a checked and linked ``ManagedObjectModel``.
///
/// Entities are shared and immutable; two entities of one model are equal if and only if they are identical. Related
/// entities refer to each other strongly, so that an entity is complete without its model. The reference cycle is
/// intended: entities stay in memory until the process ends, and all models of the same declarations share them.
///
/// `@unchecked Sendable`: only `LinkedEntities.init` writes the variable properties, and it has the only references to
/// the entities until it returns. From then on entities are constant, and reading a property checks no exclusive
/// access: saves read several for each row.
public final class Entity: @unchecked Sendable {
    /// The declaration of the entity.
    public let description: EntityDescription
    /// The position in ``ManagedObjectModel/entities``.
    public let index: Int
    /// The entity from which this entity inherits.
    @exclusivity(unchecked) public internal(set) var superentity: Entity?
    /// The entities that inherit directly from this entity, in the order of their declaration.
    @exclusivity(unchecked) public internal(set) var subentities: [Entity] = []
    /// The ``index`` of the topmost ancestor.
    @exclusivity(unchecked) public internal(set) var rootIndex: Int
    /// The entity and its descendants, each before its descendants.
    @exclusivity(unchecked) public internal(set) var family: [Entity] = []
    /// All properties in the order of their slots, inherited ones first.
    @exclusivity(unchecked) public internal(set) var properties: [Property] = []
    /// The properties by name.
    @exclusivity(unchecked) public internal(set) var propertiesByName: [String: Property] = [:]
    /// All attributes, including inherited ones, in the order of their slots.
    @exclusivity(unchecked) public internal(set) var attributes: [Attribute] = []
    /// All relationships, including inherited ones, in the order of their slots.
    @exclusivity(unchecked) public internal(set) var relationships: [Relationship] = []
    // Other modules of the package would check the access to a stored package property.
    @exclusivity(unchecked) var storedTraits: [SlotTraits] = []
    @exclusivity(unchecked) var storesToMany = false
    @exclusivity(unchecked) var storesComposites = false
    /// All uniqueness constraints, including inherited ones, each a list of slots.
    @exclusivity(unchecked) public internal(set) var uniquenessConstraints: [[Int]] = []
    /// All indexes, including inherited ones.
    @exclusivity(unchecked) public internal(set) var indexes: [FetchIndexDescription] = []

    init(_ description: EntityDescription, index: Int) {
        self.description = description
        self.index = index
        rootIndex = index
    }

    /// The name.
    public var name: String { description.name }
    /// Whether only the subentities of the entity have objects.
    public var isAbstract: Bool { description.isAbstract }
    /// Whether the entity has no superentity.
    public var isRoot: Bool { rootIndex == index }
    /// The traits of each slot, by slot.
    package var traits: [SlotTraits] { storedTraits }
    /// Whether the entity has to-many relationships.
    package var hasToMany: Bool { storesToMany }
    /// Whether the entity has attributes that are stored as JSON text.
    package var hasComposites: Bool { storesComposites }
    /// The number of slots, which is the number of properties.
    public var slotCount: Int { properties.count }

    /// Returns whether the entity is `other` or a descendant of it.
    ///
    /// - Complexity: O(depth of the inheritance)
    public func isKind(of other: Entity) -> Bool {
        var next: Entity? = self
        while let entity = next {
            if entity === other { return true }
            next = entity.superentity
        }
        return false
    }

    /// Returns the attribute with a name; nil if the entity has none.
    public func attribute(named name: String) -> Attribute? {
        if case .attribute(let attribute)? = propertiesByName[name] { attribute } else { nil }
    }

    /// Returns the relationship with a name; nil if the entity has none.
    public func relationship(named name: String) -> Relationship? {
        if case .relationship(let relationship)? = propertiesByName[name] { relationship } else { nil }
    }
}

/// The properties of a slot that each save reads, without references: reading one costs a load.
package struct SlotTraits {
    /// Whether the slot may be null in a saved row.
    package let isOptional: Bool
    /// Whether the attribute has an ``AttributeValidation``.
    package let isValidated: Bool
    /// The ``Entity/index`` of a to-one relationship's destination; -1 for other properties.
    package let destinationIndex: Int

    init(_ property: Property) {
        switch property {
        case .attribute(let attribute):
            isOptional = attribute.isOptional
            isValidated = !attribute.description.validation.isEmpty
            destinationIndex = -1
        case .relationship(let relationship):
            isOptional = relationship.isToMany || relationship.isOptional
            isValidated = false
            destinationIndex = relationship.isToMany ? -1 : relationship.destination.index
        }
    }
}

extension Entity: Hashable {
    /// Whether both are the same entity of the same model.
    public static func == (left: Entity, right: Entity) -> Bool { left === right }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
