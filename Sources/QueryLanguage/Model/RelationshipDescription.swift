/// What a program declares about a relationship.
public struct RelationshipDescription: Codable, Hashable, Sendable {
    /// To how many objects a relationship leads.
    public enum Cardinality: String, Codable, Sendable {
        case one, many
    }

    /// What happens to the destination when the source is deleted.
    public enum DeleteRule: String, Codable, CaseIterable, Sendable {
        /// Nothing: the destination keeps its reference to the deleted object's identifier.
        case noAction
        /// The destination's inverse no longer holds the source.
        case nullify
        /// The destination is deleted as well.
        case cascade
        /// The source cannot be deleted while it has a destination.
        case deny
    }

    /// The name, unique among the entity's properties, inherited ones included.
    public var name: String
    /// The name of the entity that the relationship leads to.
    public var destination: String
    /// To how many objects it leads.
    public var cardinality: Cardinality
    /// The name of the destination's relationship that leads back, or nil for a one-way relationship.
    public var inverse: String?
    /// The name of the destination's relationship that leads back for several relationships of the entity, each of which
    /// keeps members of its own. A relationship has this or ``inverse``, or neither.
    public var sharedInverse: String?
    /// What happens to the destination when the source is deleted.
    public var deleteRule: DeleteRule
    /// Whether a to-one relationship may be without a destination.
    public var isOptional: Bool
    /// Whether a to-many relationship keeps the order of its members.
    public var isOrdered: Bool
    /// The smallest number of members of a to-many relationship; 0 stands for no limit.
    public var minimumCount: Int
    /// The largest number of members of a to-many relationship; 0 stands for no limit.
    public var maximumCount: Int
    /// The name that the relationship had in an earlier version of the model.
    public var renamingIdentifier: String?

    /// Makes a declaration.
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
