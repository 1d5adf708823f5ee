/// A reference that a save writes: one object leads to another one along a relationship.
public struct WrittenReference: Hashable, Sendable {
    /// The object whose relationship it is.
    public let source: ManagedObjectID
    /// The relationship; of a many-to-many pair, the canonical side.
    public let relationship: Relationship
    /// The object that the relationship leads to.
    public let destination: ManagedObjectID

    /// Makes a reference.
    public init(source: ManagedObjectID, relationship: Relationship, destination: ManagedObjectID) {
        self.source = source
        self.relationship = relationship
        self.destination = destination
    }
}

/// A pair of related objects, one of which a save deletes though a delete rule or a required relationship does not allow
/// that the other one remains as it is.
public struct RemainingReference: Hashable, Sendable {
    /// The object that the save deletes.
    public let deleted: ManagedObjectID
    /// The object that remains.
    public let remaining: ManagedObjectID
    /// The relationship from the deleted object to the remaining one; nil if there is only the opposite direction.
    public let rule: Relationship?
    /// The relationship from the remaining object to the deleted one; nil if there is only the opposite direction.
    public let reference: Relationship?

    /// Makes a pair.
    public init(deleted: ManagedObjectID, remaining: ManagedObjectID, rule: Relationship?, reference: Relationship?) {
        self.deleted = deleted
        self.remaining = remaining
        self.rule = rule
        self.reference = reference
    }

    /// Why the deletion cannot be saved; nil if it could be saved after the delete rules are applied again.
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
