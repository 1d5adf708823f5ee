/// An entity of a checked and linked ``ManagedObjectModel``.
///
/// Entities are shared and immutable; two entities of one model are equal if and only if they are identical. Related
/// entities refer to each other strongly, so that an entity is complete without its model. The reference cycle is
/// intended: entities stay in memory until the process ends, and all models of the same declarations share them.
///
/// `@unchecked Sendable`: only `LinkedEntities.init` writes `links`, and it has the only references to
/// the entities until it returns. From then on entities are constant, and reading a property checks no exclusive
/// access: saves read several for each row.
public final class Entity: @unchecked Sendable {
    /// The declaration of the entity.
    public let description: EntityDescription
    /// The position in ``ManagedObjectModel/entities``.
    public let index: Int
    /// The values that `LinkedEntities.init` adds. No code changes them afterwards, so that accesses do not conflict.
    /// The public properties are computed: other modules of the package would check the access to a stored property.
    @exclusivity(unchecked) @usableFromInline var links = Links()

    /// The parts of an entity that depend on the other entities.
    @usableFromInline struct Links {
        @usableFromInline var superentity: Entity?
        @usableFromInline var subentities: [Entity] = []
        @usableFromInline var rootIndex = 0
        @usableFromInline var family: [Entity] = []
        @usableFromInline var properties: [Property] = []
        @usableFromInline var propertiesByName: [String: Property] = [:]
        @usableFromInline var attributes: [Attribute] = []
        @usableFromInline var relationships: [Relationship] = []
        @usableFromInline var traits: [SlotTraits] = []
        @usableFromInline var hasToMany = false
        @usableFromInline var hasComposites = false
        @usableFromInline var uniquenessConstraints: [[Int]] = []
        @usableFromInline var indexes: [FetchIndexDescription] = []
    }

    init(_ description: EntityDescription, index: Int) {
        self.description = description
        self.index = index
        links.rootIndex = index
    }

    /// The entity from which this entity inherits.
    @inlinable public var superentity: Entity? { links.superentity }
    /// The entities that inherit directly from this entity, in the order of their declaration.
    @inlinable public var subentities: [Entity] { links.subentities }
    /// The ``index`` of the topmost ancestor.
    @inlinable public var rootIndex: Int { links.rootIndex }
    /// The entity and its descendants, each before its descendants.
    @inlinable public var family: [Entity] { links.family }
    /// All properties in the order of their slots, inherited ones first.
    @inlinable public var properties: [Property] { links.properties }
    /// The properties by name.
    @inlinable public var propertiesByName: [String: Property] { links.propertiesByName }
    /// All attributes, including inherited ones, in the order of their slots.
    @inlinable public var attributes: [Attribute] { links.attributes }
    /// All relationships, including inherited ones, in the order of their slots.
    @inlinable public var relationships: [Relationship] { links.relationships }
    /// The traits of each slot, by slot.
    @inlinable package var traits: [SlotTraits] { links.traits }
    /// Whether the entity has to-many relationships.
    @inlinable package var hasToMany: Bool { links.hasToMany }
    /// Whether the entity has attributes that are stored as JSON text.
    @inlinable package var hasComposites: Bool { links.hasComposites }
    /// All uniqueness constraints, including inherited ones, each a list of slots.
    @inlinable public var uniquenessConstraints: [[Int]] { links.uniquenessConstraints }
    /// All indexes, including inherited ones.
    @inlinable public var indexes: [FetchIndexDescription] { links.indexes }

    /// The name.
    public var name: String { description.name }
    /// Whether only the subentities of the entity have objects.
    public var isAbstract: Bool { description.isAbstract }
    /// Whether the entity has no superentity.
    public var isRoot: Bool { rootIndex == index }
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
@usableFromInline package struct SlotTraits {
    /// Whether the slot may be null in a saved row.
    package let isOptional: Bool
    /// Whether each value is validated: the attribute has an ``AttributeValidation``, or is a URL.
    package let isValidated: Bool
    /// Whether the attribute's type restricts its stored values.
    package let isRestricted: Bool
    /// The ``Entity/index`` of a to-one relationship's destination; -1 for other properties.
    package let destinationIndex: Int

    init(_ property: Property) {
        switch property {
        case .attribute(let attribute):
            isOptional = attribute.isOptional
            // The text of a URL need not be a valid URL: an empty URL has an empty text.
            isValidated = !attribute.description.validation.isEmpty || attribute.type == .url
            isRestricted = attribute.type.restrictsStoredValues
            destinationIndex = -1
        case .relationship(let relationship):
            isOptional = relationship.isToMany || relationship.isOptional
            isValidated = false
            isRestricted = false
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
