/// The reason for which a store cannot carry out a save. The context resolves it by its ``MergePolicy``, or throws.
public enum SaveConflict: Error, Hashable, Sendable {
    /// Another writer has changed or deleted these objects since they were read.
    case outdated([ManagedObjectID])
    /// Another object has the same values of properties that are unique together.
    case notUnique(entity: String, properties: [String])
    /// These references, which the save writes, lead to objects that the store does not have.
    case missingDestinations([WrittenReference])
    /// The save relates the destinations of these references to other objects, and the references are required.
    case lostDestinations([WrittenReference])
    /// These references lead to objects that the save deletes, and neither a delete rule nor the save clears them.
    case remainingReferences([RemainingReference])
    /// These to-many relationships have more members than their maximum, or fewer than their minimum, together with the
    /// changes of other writers.
    case memberCounts([MemberCount])
}

/// The number of members that a to-many relationship of an object would have.
public struct MemberCount: Hashable, Sendable {
    /// The object.
    public let owner: ManagedObjectID
    /// The relationship.
    public let relationship: Relationship
    /// The number of members.
    public let count: Int

    /// Makes a number of members.
    public init(owner: ManagedObjectID, relationship: Relationship, count: Int) {
        self.owner = owner
        self.relationship = relationship
        self.count = count
    }
}

/// A reference that a save writes, or that would be lost, from one object to another along a relationship.
public struct WrittenReference: Hashable, Sendable {
    /// The source.
    public let source: ManagedObjectID
    /// The relationship; of a many-to-many pair, the canonical side.
    public let relationship: Relationship
    /// The destination.
    public let destination: ManagedObjectID

    /// Makes a reference.
    public init(source: ManagedObjectID, relationship: Relationship, destination: ManagedObjectID) {
        self.source = source
        self.relationship = relationship
        self.destination = destination
    }
}

/// A pair of related objects, one of which a save deletes although a delete rule or a required relationship does not
/// allow the remaining object to stay unchanged.
public struct RemainingReference: Hashable, Sendable {
    /// The object that the save deletes.
    public let deleted: ManagedObjectID
    /// The object that remains.
    public let remaining: ManagedObjectID
    /// The relationship from the deleted object to the remaining object; nil if there is only the opposite direction.
    public let rule: Relationship?
    /// The relationship from the remaining object to the deleted object; nil if there is only the opposite direction.
    public let reference: Relationship?

    /// Makes a pair.
    public init(deleted: ManagedObjectID, remaining: ManagedObjectID, rule: Relationship?, reference: Relationship?) {
        self.deleted = deleted
        self.remaining = remaining
        self.rule = rule
        self.reference = reference
    }

    /// The reason for which the deletion cannot be saved; nil if it can be saved after the delete rules are applied
    /// again.
    var problem: ObjectGraphError.ValidationProblem? {
        if let rule, rule.deleteRule == .deny {
            return .init(id: deleted, property: rule.name, reason: .deletionDenied)
        }
        if rule?.deleteRule == .cascade { return nil }
        guard let reference, !reference.isToMany, !reference.isOptional else { return nil }
        return .init(id: remaining, property: reference.name, reason: .missingValue)
    }
}

extension Relationship {
    /// Whether a save may clear the key of a to-one relationship whose destination it deletes: the relationship can be
    /// without a destination, and the delete rule of the inverse allows the source to remain.
    ///
    /// A reference that may not be cleared is a ``SaveConflict/remainingReferences(_:)``.
    package var isClearedWithDestination: Bool {
        switch inverse?.deleteRule {
        case .deny, .cascade: false
        case .nullify, .noAction, nil: isOptional
        }
    }

    /// Whether a save may drop the pairs of a join table of an object that it deletes, along this relationship of the
    /// object.
    package var dropsPairsOfDeleted: Bool { deleteRule != .deny && deleteRule != .cascade }
}

extension ObjectGraphError {
    /// The error for a conflict that involves no object of a context.
    init(_ conflict: SaveConflict) {
        self =
            switch conflict {
            case .outdated(let ids): .conflicts(ids.map { MergeConflict(objectID: $0) })
            case .notUnique(let entity, let properties):
                .notUnique([
                    ConstraintConflict(
                        entity: entity,
                        properties: properties,
                        databaseObject: nil,
                        conflictingObjects: []
                    )
                ])
            case .missingDestinations(let references):
                .validation(
                    references.map {
                        .init(id: $0.source, property: $0.relationship.name, reason: .missingDestination)
                    }
                )
            case .lostDestinations(let references):
                .validation(
                    references.map { .init(id: $0.source, property: $0.relationship.name, reason: .missingValue) }
                )
            case .remainingReferences(let references):
                .validation(
                    references.map { reference in
                        reference.problem
                            ?? .init(
                                id: reference.deleted,
                                property: reference.rule?.name ?? "",
                                reason: .deletionDenied
                            )
                    }
                )
            case .memberCounts(let counts):
                .validation(
                    counts.map { members in
                        .init(
                            id: members.owner,
                            property: members.relationship.name,
                            reason: members.relationship.problem(ofMemberCount: members.count) ?? .tooManyMembers
                        )
                    }
                )
            }
    }
}
