/// What the result of a batch request tells.
public enum BatchResultType: Hashable, Sendable {
    /// Nothing but that it was carried out.
    case statusOnly
    /// How many objects were inserted, changed or deleted.
    case count
    /// The identifiers of the objects that were inserted, changed or deleted.
    case objectIDs
}

/// What a batch request did, told as its ``BatchResultType`` asks. A request that fails throws and does nothing.
public enum BatchResult: Hashable, Sendable {
    /// It was carried out.
    case statusOnly
    /// The number of objects.
    case count(Int)
    /// The identifiers, by entity and primary key.
    case objectIDs([ManagedObjectID])
}

/// What a batch request changed in a store, as a store reports it and contexts take it in.
public struct BatchChanges: Sendable {
    /// The primary keys of objects that share a root entity.
    public struct Keys: Sendable {
        /// The entity that was asked for, or one that leads to the root.
        public var entity: Entity
        /// The keys, ascending.
        public var keys: [Int64]

        /// Makes a list.
        public init(entity: Entity, keys: [Int64]) {
            self.entity = entity
            self.keys = keys
        }
    }

    /// The keys of new objects, in the order of their insertion; ranges, since there may be millions.
    public var inserted: [Range<Int64>] = []
    /// The changed objects.
    public var updated: [Keys] = []
    /// The deleted objects.
    public var deleted: [Keys] = []
    /// The to-one relationships of inserted and changed objects that were written.
    public var relationships: [Relationship] = []

    /// No changes.
    public init() {}

    /// How many objects were inserted, changed or deleted.
    public var count: Int {
        inserted.reduce(0) { $0 + $1.count } + (updated + deleted).reduce(0) { $0 + $1.keys.count }
    }
}
