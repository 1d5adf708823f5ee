/// A request of a context to its backing store, with the type of the result: ``BackingStore`` chooses between the store
/// and the parent in one place for all types of requests.
protocol StoreRequest {
    associatedtype Result

    /// Whether the request only reads. A parent that cannot read a value then answers with an error instead of a
    /// substitute. A request that writes does not fail after it has taken effect.
    static var isRead: Bool { get }

    /// Calls the store's `execute` for requests of this type.
    func execute(in store: any IncrementalStore, with context: ManagedObjectContext) throws -> Result

    /// Executes the request of a child in its parent. All new objects of the parent have permanent identifiers.
    /// Requests that read only the saved state are forwarded to the parent's backing store.
    func execute(in parent: ParentStore, for child: ManagedObjectContext) throws -> Result
}

extension StoreRequest {
    static var isRead: Bool { true }
}

extension FetchRequest: StoreRequest {
    func execute(in store: any IncrementalStore, with context: ManagedObjectContext) throws -> RowBatch {
        try store.execute(self, with: context)
    }

    func execute(in parent: ParentStore, for child: ManagedObjectContext) throws -> RowBatch {
        try parent.rows(for: self).reporting(to: child.readFailures)
    }
}

extension ObjectIDFetchRequest: StoreRequest {
    func execute(in store: any IncrementalStore, with context: ManagedObjectContext) throws -> [ManagedObjectID] {
        try store.execute(self, with: context)
    }

    func execute(in parent: ParentStore, for child: ManagedObjectContext) throws -> [ManagedObjectID] {
        try parent.context.fetchIDs(objects)
    }
}

extension CountRequest: StoreRequest {
    func execute(in store: any IncrementalStore, with context: ManagedObjectContext) throws -> Int {
        try store.execute(self, with: context)
    }

    func execute(in parent: ParentStore, for child: ManagedObjectContext) throws -> Int {
        try parent.context.count(objects)
    }
}

extension DictionaryFetchRequest: StoreRequest {
    func execute(in store: any IncrementalStore, with context: ManagedObjectContext) throws -> DictionaryResults {
        try store.execute(self, with: context)
    }

    func execute(in parent: ParentStore, for child: ManagedObjectContext) throws -> DictionaryResults {
        try parent.loader.stores.execute(self, of: entity)
    }
}

extension FullTextMatchRequest: StoreRequest {
    func execute(in store: any IncrementalStore, with context: ManagedObjectContext) throws -> [StoredFullTextMatch] {
        try store.execute(self, with: context)
    }

    func execute(in parent: ParentStore, for child: ManagedObjectContext) throws -> [StoredFullTextMatch] {
        parent.context.processPendingChanges()
        return try parent.fetcher.matches(for: self)
    }
}

extension QueryPlanRequest: StoreRequest {
    func execute(in store: any IncrementalStore, with context: ManagedObjectContext) throws -> QueryPlan {
        try store.execute(self, with: context)
    }

    func execute(in parent: ParentStore, for child: ManagedObjectContext) throws -> QueryPlan {
        try parent.loader.stores.execute(self, of: objects.entity)
    }
}

extension SaveChangesRequest: StoreRequest {
    static var isRead: Bool { false }

    func execute(in store: any IncrementalStore, with context: ManagedObjectContext) throws {
        try store.execute(self, with: context)
    }

    func execute(in parent: ParentStore, for child: ManagedObjectContext) throws {
        try parent.accept(self, from: child)
    }
}

/// A request that changes many rows of a store at once.
protocol BatchRequest: StoreRequest where Result == BatchChanges {
    var entity: Entity { get }
}

extension BatchRequest {
    static var isRead: Bool { false }

    func execute(in parent: ParentStore, for child: ManagedObjectContext) throws -> BatchChanges {
        try parent.context.executeBatch(self, from: child.remoteChanges.inbox)
    }
}

extension BatchInsertion: BatchRequest {
    func execute(in store: any IncrementalStore, with context: ManagedObjectContext) throws -> BatchChanges {
        try store.execute(self, with: context)
    }
}

extension BatchUpdateRequest: BatchRequest {
    func execute(in store: any IncrementalStore, with context: ManagedObjectContext) throws -> BatchChanges {
        try store.execute(self, with: context)
    }
}

extension BatchDeleteRequest: BatchRequest {
    func execute(in store: any IncrementalStore, with context: ManagedObjectContext) throws -> BatchChanges {
        try store.execute(self, with: context)
    }
}
