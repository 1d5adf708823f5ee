/// The changes of one save. All keys are permanent.
public struct SaveChangesRequest: Sendable {
    /// The rows of new objects.
    public var inserted = RowBatch()
    /// The new rows of changed objects, with their new versions.
    public var updated = RowBatch()
    /// For each row of ``updated``, its previous version and the changed slots.
    public var updates: [Update] = []
    /// The objects to delete.
    public var deleted: [Deletion] = []
    /// Changes of to-many relationships that the members' rows do not contain. Changes that add or remove members come
    /// before changes that only set an order, so that an order names only existing members.
    public var memberships: [MembershipChange] = []
    /// The changed to-many relationships of stored objects whose numbers of members are limited. Another writer may
    /// have changed them as well: the store counts the members after all changes, and throws
    /// ``SaveConflict/memberCounts(_:)`` if a number is outside its limits.
    public var limitedRelationships: [LimitedRelationship] = []

    /// A request without changes.
    public init() {}

    /// Whether the request contains no changes.
    public var isEmpty: Bool {
        inserted.count == 0 && updated.count == 0 && deleted.isEmpty && memberships.isEmpty
    }

    /// The difference between a row of ``SaveChangesRequest/updated`` and its previous version.
    public struct Update: Sendable {
        /// The version at which the object was read.
        public var previousVersion: UInt32
        /// The slots that changed.
        public var slots: SlotSet

        /// Makes an update.
        public init(previousVersion: UInt32, slots: SlotSet) {
            self.previousVersion = previousVersion
            self.slots = slots
        }
    }

    /// An object to delete.
    public struct Deletion: Sendable {
        /// The entity.
        public var entity: Entity
        /// The primary key.
        public var key: Int64
        /// The row as it was read; nil if the object was never read.
        public var row: Row?

        /// Makes a deletion.
        public init(entity: Entity, key: Int64, row: Row?) {
            self.entity = entity
            self.key = key
            self.row = row
        }
    }

    /// A to-many relationship of one object with a limited number of members.
    public struct LimitedRelationship: Sendable {
        /// The relationship, whose description has the limits.
        public var relationship: Relationship
        /// The key of the object.
        public var owner: Int64

        /// Makes the relationship of an object.
        public init(relationship: Relationship, owner: Int64) {
            self.relationship = relationship
            self.owner = owner
        }
    }

    /// A change of one object's to-many relationship in a join table, or of its order.
    public struct MembershipChange: Sendable {
        /// The relationship; of a many-to-many pair, the canonical side.
        public var relationship: Relationship
        /// The key of the object whose relationship changed.
        public var owner: Int64
        /// The keys of new members; empty if the members' rows contain the change.
        public var added: [Int64]
        /// The keys of removed members; empty if the members' rows contain the change.
        public var removed: [Int64]
        /// The keys of all members in their order; nil for an unordered relationship.
        public var order: [Int64]?

        /// Makes a change.
        public init(relationship: Relationship, owner: Int64, added: [Int64], removed: [Int64], order: [Int64]?) {
            self.relationship = relationship
            self.owner = owner
            self.added = added
            self.removed = removed
            self.order = order
        }
    }
}
