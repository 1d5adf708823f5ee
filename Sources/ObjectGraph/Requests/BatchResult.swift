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
        /// The entity of the request, or another one with the same root.
        public var entity: Entity
        /// The keys, ascending.
        public var keys: [Int64]

        /// Makes a list.
        public init(entity: Entity, keys: [Int64]) {
            self.entity = entity
            self.keys = keys
        }
    }

    /// The keys of new objects, in the order of their insertion; as ranges, since there may be millions.
    public var inserted: [Range<Int64>] = []
    /// The changed objects.
    public var updated: [Keys] = []
    /// The deleted objects.
    public var deleted: [Keys] = []
    /// Other objects whose rows the store has changed, since they referred to deleted objects, or since their
    /// destination was related to another object; and owners whose to-many relationships with a shared inverse it has
    /// changed.
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

/// A store that changes many rows without objects.
public protocol BatchStore: IncrementalStore {
    /// Inserts rows, all of them or none. The store assigns their keys and checks that destinations exist.
    func execute(_ request: BatchInsertion, with context: RequestContext) throws -> BatchChanges

    /// Changes the rows that match a request, all of them or none. The context has checked the properties and
    /// constants. The store increments the rows' versions, checks the values that it computes with
    /// ``Property/problem(of:)``, and checks that destinations exist.
    func execute(_ request: BatchUpdateRequest, with context: RequestContext) throws -> BatchChanges

    /// Deletes the rows that match a request, all of them or none, by their delete rules, and all references to them.
    func execute(_ request: BatchDeleteRequest, with context: RequestContext) throws -> BatchChanges
}

/// A request that changes many rows of a store at once.
protocol BatchRequest {
    /// The entity of the rows.
    var entity: Entity { get }
    /// The slots of the updated objects that the request changes; nil if it may change any slot.
    var changedSlots: SlotSet? { get }

    /// Calls the method of the store for requests of this type.
    func execute(in store: any BatchStore, with context: RequestContext) throws -> BatchChanges
}

extension BatchRequest {
    var changedSlots: SlotSet? { nil }
}

extension BatchInsertion: BatchRequest {
    func execute(in store: any BatchStore, with context: RequestContext) throws -> BatchChanges {
        try store.execute(self, with: context)
    }
}

extension BatchUpdateRequest: BatchRequest {
    var changedSlots: SlotSet? {
        (try? assignments()).map { assignments in
            var slots = SlotSet()
            for assignment in assignments { slots.insert(assignment.property.slot) }
            return slots
        }
    }

    func execute(in store: any BatchStore, with context: RequestContext) throws -> BatchChanges {
        try store.execute(self, with: context)
    }
}

extension BatchDeleteRequest: BatchRequest {
    func execute(in store: any BatchStore, with context: RequestContext) throws -> BatchChanges {
        try store.execute(self, with: context)
    }
}
