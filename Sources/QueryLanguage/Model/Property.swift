/// A property of an entity: an attribute or a relationship.
public enum Property: Hashable, Sendable {
    case attribute(Attribute)
    case relationship(Relationship)

    /// The name.
    public var name: String {
        switch self {
        case .attribute(let attribute): attribute.name
        case .relationship(let relationship): relationship.name
        }
    }

    /// The position among the entity's properties, the same in all entities that inherit the property.
    public var slot: Int {
        switch self {
        case .attribute(let attribute): attribute.slot
        case .relationship(let relationship): relationship.slot
        }
    }

    /// Whether the property may be null; true for a to-many relationship.
    public var isOptional: Bool {
        switch self {
        case .attribute(let attribute): attribute.isOptional
        case .relationship(let relationship): relationship.isToMany || relationship.isOptional
        }
    }
}

/// An attribute of a linked ``Entity``, shared by the declaring entity and its descendants.
public final class Attribute: Sendable {
    /// The declaration of the attribute.
    public let description: AttributeDescription
    /// The position among the entity's properties.
    public let slot: Int
    /// The name of the entity that declares the attribute.
    public let declaringEntityName: String

    init(_ description: AttributeDescription, slot: Int, declaringEntityName: String) {
        self.description = description
        self.slot = slot
        self.declaringEntityName = declaringEntityName
    }

    /// The name.
    public var name: String { description.name }
    /// The type of the values.
    public var type: AttributeType { description.type }
    /// Whether the attribute may be null.
    public var isOptional: Bool { description.isOptional }
}

extension Attribute: Hashable {
    /// Whether both are the same attribute of the same model.
    public static func == (left: Attribute, right: Attribute) -> Bool { left === right }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A relationship of a linked ``Entity``, shared by the declaring entity and its descendants.
///
/// `@unchecked Sendable`: only `LinkedEntities.init` writes `links`, and it has the only references to the
/// relationships until it returns. From then on relationships are constant.
public final class Relationship: @unchecked Sendable {
    /// The declaration of the relationship.
    public let description: RelationshipDescription
    /// The position among the entity's properties.
    public let slot: Int
    /// The position among all relationships of the model.
    public let index: Int
    /// The entity that declares the relationship.
    public let source: Entity
    /// The entity of the destinations.
    public let destination: Entity
    /// The values that `LinkedEntities.init` adds, as for an `Entity`.
    @exclusivity(unchecked) @usableFromInline var links = Links()

    /// The parts of a relationship that depend on the other relationships.
    @usableFromInline struct Links {
        @usableFromInline var inverse: Relationship?
        @usableFromInline var sharedInverse: Relationship?
        @usableFromInline var sharers: [Relationship] = []
    }

    init(_ description: RelationshipDescription, slot: Int, index: Int, source: Entity, destination: Entity) {
        self.description = description
        self.slot = slot
        self.index = index
        self.source = source
        self.destination = destination
    }

    /// The destination's relationship that leads back; nil for a one-way relationship.
    @inlinable public var inverse: Relationship? { links.inverse }
    /// The destination's relationship that leads back for this relationship and others of the same source; nil if there
    /// is none.
    @inlinable public var sharedInverse: Relationship? { links.sharedInverse }
    /// The relationships whose shared inverse is this relationship, in the order of their declaration.
    @inlinable public var sharers: [Relationship] { links.sharers }

    /// The name.
    public var name: String { description.name }
    /// Whether the relationship is to-many.
    public var isToMany: Bool { description.cardinality == .many }
    /// Whether a to-one relationship may be null.
    public var isOptional: Bool { description.isOptional }
    /// Whether a to-many relationship keeps the order of its members.
    public var isOrdered: Bool { description.isOrdered }
    /// The effect of the source's deletion on the destination.
    public var deleteRule: RelationshipDescription.DeleteRule { description.deleteRule }

    /// The place of the relationship in a store.
    public var placement: Placement {
        guard isToMany else { return .sourceKey }
        guard let inverse else { return .joinTable(isCanonical: true) }
        if !inverse.isToMany { return .destinationKey }
        let names = (source.name, name)
        let inverseNames = (inverse.source.name, inverse.name)
        return .joinTable(isCanonical: names <= inverseNames)
    }

    /// The place of the pairs of a relationship in a store.
    public enum Placement: Hashable, Sendable {
        /// As a key in the source's row: a to-one relationship.
        case sourceKey
        /// As a key in the destinations' rows: a to-many relationship whose inverse is to-one.
        case destinationKey
        /// In a table of pairs, which a many-to-many relationship shares with its inverse. The canonical side is the
        /// relationship whose entity and name come first; it names the table and reports the changes.
        case joinTable(isCanonical: Bool)
    }
}

extension Relationship: Hashable {
    /// Whether both are the same relationship of the same model.
    public static func == (left: Relationship, right: Relationship) -> Bool { left === right }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
