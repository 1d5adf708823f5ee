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
