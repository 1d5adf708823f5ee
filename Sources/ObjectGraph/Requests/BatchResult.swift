/// The content of the result of a batch request.
public enum BatchResultType: Hashable, Sendable {
    /// Nothing.
    case statusOnly
    /// The number of inserted, changed or deleted objects.
    case count
    /// The identifiers of the inserted, changed or deleted objects.
    case objectIDs
}

/// The result of a batch request, according to its ``BatchResultType``. A request that fails throws and changes
/// nothing.
public enum BatchResult: Hashable, Sendable {
    /// The request was executed.
    case statusOnly
    /// The number of objects.
    case count(Int)
    /// The identifiers, by entity and primary key.
    case objectIDs([ManagedObjectID])
}

/// The changes of a batch request in a store, which the store reports and contexts merge.
public struct BatchChanges: Sendable {
    /// The primary keys of objects that share a root entity.
    public struct Keys: Sendable {
        /// The entity of the request, or an entity with the same root.
        public var entity: Entity
        /// The keys, ascending.
        public var keys: [Int64]
        /// The slots that the store has changed in the objects; nil if it may have changed any slot.
        public var slots: SlotSet?

        /// Makes a list.
        public init(entity: Entity, keys: [Int64], slots: SlotSet? = nil) {
            self.entity = entity
            self.keys = keys
            self.slots = slots
        }
    }

    /// The keys of new objects, in the order of their insertion; as ranges, since there may be millions.
    public var inserted: [Range<Int64>] = []
    /// The changed objects.
    public var updated: [Keys] = []
    /// The deleted objects.
    public var deleted: [Keys] = []
    /// Objects whose rows the store has changed although the request does not name them, since they referred to deleted
    /// objects, or since their destination was related to another object; and owners whose to-many relationships with a
    /// shared inverse it has changed.
    public var cleared: [Keys] = []
    /// The to-one relationships of inserted and changed objects that the request has written.
    public var relationships: [Relationship] = []

    /// No changes.
    public init() {}

    /// The number of inserted, changed or deleted objects.
    public var count: Int {
        inserted.reduce(0) { $0 + $1.count } + (updated + deleted).reduce(0) { $0 + $1.keys.count }
    }
}
