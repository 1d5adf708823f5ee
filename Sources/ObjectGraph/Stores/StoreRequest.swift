/// What a context asks of a store.
public enum StoreRequest: Sendable {
    /// The rows of the objects that fit.
    case fetch(FetchRequest)
    /// The identifiers of the objects that fit.
    case fetchIDs(FetchRequest)
    /// How many objects fit.
    case count(FetchRequest)
    /// Values computed from the objects that fit; the context has checked that the request has one meaning.
    case fetchDictionaries(DictionaryFetchRequest)
    /// What a full-text search finds.
    case matches(FullTextMatchRequest)
    /// How a fetch would be carried out.
    case explain(FetchRequest)
    /// Writes changes, all of them or none.
    case save(SaveChangesRequest)
    /// Inserts rows, all of them or none. The store gives them their keys and sees to it that destinations exist.
    case batchInsert(BatchInsertion)
    /// Changes the rows that fit, all of them or none; the context has checked the properties and constants. The store
    /// counts the rows' versions up, checks the values that it computes with ``Property/problem(of:)``, and sees to it
    /// that destinations exist.
    case batchUpdate(BatchUpdateRequest)
    /// Deletes the rows that fit, all of them or none, along their delete rules, and all references to them.
    case batchDelete(BatchDeleteRequest)
    /// Deletes all rows of the store, whatever the delete rules say. Keys are not used again.
    case erase
}

/// The answer to a ``StoreRequest``.
public enum StoreResult: Sendable {
    /// To a fetch.
    case rows(RowBatch)
    /// To a fetch of identifiers.
    case ids([ManagedObjectID])
    /// To a count.
    case count(Int)
    /// To a fetch of dictionaries.
    case dictionaries(DictionaryResults)
    /// To a search.
    case matches([StoredFullTextMatch])
    /// To the question how a fetch would be carried out.
    case plan(QueryPlan)
    /// To a save, and when the store was erased.
    case saved
    /// To a batch request.
    case batch(BatchChanges)
}

/// The changes of one save. Keys are permanent throughout.
public struct SaveChangesRequest: Sendable {
    /// The rows of new objects.
    public var inserted = RowBatch()
    /// The new rows of changed objects, with their new versions.
    public var updated = RowBatch()
    /// For each row of ``updated``: the version it had before, and the slots that changed.
    public var updates: [Update] = []
    /// The objects to delete.
    public var deleted: [Deletion] = []
    /// Changes of to-many relationships that are not told by the members' rows. Those that add or remove members come
    /// before those that only tell an order, so that an order only names members that are there.
    public var memberships: [MembershipChange] = []

    /// A request without changes.
    public init() {}

    /// Whether there is nothing to write.
    public var isEmpty: Bool {
        inserted.count == 0 && updated.count == 0 && deleted.isEmpty && memberships.isEmpty
    }

    /// What a row of ``SaveChangesRequest/updated`` changes.
    public struct Update: Sendable {
        /// The version that the object was read at.
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
        /// The row that the object was read from; nil where it was never read.
        public var row: Row?

        /// Makes a deletion.
        public init(entity: Entity, key: Int64, row: Row?) {
            self.entity = entity
            self.key = key
            self.row = row
        }
    }

    /// A change of one object's to-many relationship that lives in a join table, or of its order.
    public struct MembershipChange: Sendable {
        /// The relationship; of a many-to-many pair, the canonical side.
        public var relationship: Relationship
        /// The key of the object whose relationship changed.
        public var owner: Int64
        /// The keys of new members; empty where the members' rows tell them.
        public var added: [Int64]
        /// The keys of members that left; empty where the members' rows tell them.
        public var removed: [Int64]
        /// The keys of all members in their order, where the relationship is ordered.
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

/// A set of slots.
public struct SlotSet: Hashable, Sendable {
    private var low: UInt64 = 0
    /// The slots from 64 on, 64 to a word, without zeros at the end.
    private var high: [UInt64] = []

    /// The empty set.
    public init() {}

    /// Whether there is no slot.
    public var isEmpty: Bool { low == 0 && high.isEmpty }

    /// Adds a slot.
    public mutating func insert(_ slot: Int) {
        if slot < 64 {
            low |= 1 << UInt64(slot)
        } else {
            let word = slot / 64 - 1
            while high.count <= word { high.append(0) }
            high[word] |= 1 << UInt64(slot % 64)
        }
    }

    /// Whether both sets have no slot in common.
    public func isDisjoint(with other: SlotSet) -> Bool {
        low & other.low == 0 && zip(high, other.high).allSatisfy { $0 & $1 == 0 }
    }

    /// Whether a slot is in the set.
    public func contains(_ slot: Int) -> Bool {
        if slot < 64 { return low & (1 << UInt64(slot)) != 0 }
        let word = slot / 64 - 1
        return word < high.count && high[word] & (1 << UInt64(slot % 64)) != 0
    }
}
