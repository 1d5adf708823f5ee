/// The declaration of a relationship.
public struct RelationshipDescription: Codable, Hashable, Sendable {
    /// The number of destinations of a relationship.
    public enum Cardinality: String, Codable, Sendable {
        case one, many
    }

    /// The effect of the source's deletion on the destination.
    public enum DeleteRule: String, Codable, CaseIterable, Sendable {
        /// A to-one inverse keeps its reference in memory. The save clears it in the store, or throws if it is not
        /// optional.
        case noAction
        /// The source is removed from the destination's inverse.
        case nullify
        /// The destination is deleted as well.
        case cascade
        /// The source cannot be deleted while it has a destination.
        case deny
    }

    /// The name, unique among the entity's properties, including inherited ones.
    public var name: String
    /// The name of the destination entity.
    public var destination: String
    /// The number of destinations.
    public var cardinality: Cardinality
    /// The name of the destination's relationship that leads back; nil for a one-way relationship.
    public var inverse: String?
    /// The name of the destination's relationship that leads back for several relationships of the entity, each of
    /// which has separate members. A relationship has either this or ``inverse``, or neither.
    public var sharedInverse: String?
    /// The effect of the source's deletion on the destination.
    public var deleteRule: DeleteRule
    /// Whether a to-one relationship may be null.
    public var isOptional: Bool
    /// Whether a to-many relationship keeps the order of its members.
    public var isOrdered: Bool
    /// The smallest number of members of a to-many relationship; 0 for no limit.
    public var minimumCount: Int
    /// The largest number of members of a to-many relationship; 0 for no limit.
    public var maximumCount: Int
    /// The name that the relationship had in an earlier version of the model.
    public var renamingIdentifier: String?

    /// Creates a declaration.
    public init(
        _ name: String,
        to destination: String,
        _ cardinality: Cardinality,
        inverse: String? = nil,
        sharedInverse: String? = nil,
        deleteRule: DeleteRule = .nullify,
        isOptional: Bool = true,
        isOrdered: Bool = false,
        minimumCount: Int = 0,
        maximumCount: Int = 0,
        renamingIdentifier: String? = nil
    ) {
        self.name = name
        self.destination = destination
        self.cardinality = cardinality
        self.inverse = inverse
        self.sharedInverse = sharedInverse
        self.deleteRule = deleteRule
        self.isOptional = isOptional
        self.isOrdered = isOrdered
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount
        self.renamingIdentifier = renamingIdentifier
    }
}

extension RelationshipDescription {
    private enum CodingKeys: String, CodingKey {
        case name, destination, cardinality, inverse, sharedInverse, deleteRule, isOptional, isOrdered
        case minimumCount, maximumCount, renamingIdentifier
    }

    /// Decodes a declaration. Missing values have the defaults of the initializer.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(String.self, forKey: .name),
            to: try container.decode(String.self, forKey: .destination),
            try container.decode(Cardinality.self, forKey: .cardinality),
            inverse: try container.decodeIfPresent(String.self, forKey: .inverse),
            sharedInverse: try container.decodeIfPresent(String.self, forKey: .sharedInverse),
            deleteRule: try container.decodeIfPresent(DeleteRule.self, forKey: .deleteRule) ?? .nullify,
            isOptional: try container.decodeIfPresent(Bool.self, forKey: .isOptional) ?? true,
            isOrdered: try container.decodeIfPresent(Bool.self, forKey: .isOrdered) ?? false,
            minimumCount: try container.decodeIfPresent(Int.self, forKey: .minimumCount) ?? 0,
            maximumCount: try container.decodeIfPresent(Int.self, forKey: .maximumCount) ?? 0,
            renamingIdentifier: try container.decodeIfPresent(String.self, forKey: .renamingIdentifier)
        )
    }

    /// Encodes the declaration without default values.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(destination, forKey: .destination)
        try container.encode(cardinality, forKey: .cardinality)
        try container.encodeIfPresent(inverse, forKey: .inverse)
        try container.encodeIfPresent(sharedInverse, forKey: .sharedInverse)
        if deleteRule != .nullify { try container.encode(deleteRule, forKey: .deleteRule) }
        if !isOptional { try container.encode(isOptional, forKey: .isOptional) }
        if isOrdered { try container.encode(isOrdered, forKey: .isOrdered) }
        if minimumCount != 0 { try container.encode(minimumCount, forKey: .minimumCount) }
        if maximumCount != 0 { try container.encode(maximumCount, forKey: .maximumCount) }
        try container.encodeIfPresent(renamingIdentifier, forKey: .renamingIdentifier)
    }
}
