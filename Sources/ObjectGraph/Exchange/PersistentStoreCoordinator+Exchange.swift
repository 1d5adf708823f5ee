public import Foundation

extension PersistentStoreCoordinator {
    /// Returns the changes of a store that the common order of its exchange does not contain yet.
    ///
    /// The program appends the change set to the common order, if no other store has done so with the same
    /// ``ChangeSet/sequence``, and applies each change set of the common order, including the change sets of this
    /// store:
    ///
    /// ```swift
    /// while let changes = try coordinator.changeSet(), !log.append(changes) {
    ///     for changes in log.after(try coordinator.exchangeState().position) { try coordinator.apply(changes) }
    /// }
    /// ```
    ///
    /// Before the first exchange, all objects of the store are its changes. Many changes make several change sets: the
    /// loop ends when all are in the common order, and may be ended and continued between any two of them. A change set
    /// without changes replaces an earlier change set for the same position, which the common order may contain or not.
    ///
    /// - Parameters:
    ///   - uuid: The store; nil for the only store of the coordinator.
    ///   - sizeLimit: The size of the change set in bytes, about the size of its coded form. A change set is larger by one
    ///     object, and by changes that need each other: the deletions of exchanged objects and the changes of their
    ///     unique values and relationships, and new objects that require each other.
    /// - Returns: Nil if there are no changes.
    /// - Throws: ``ExchangeError/noIdentifiers``; ``ExchangeError/expired(lastDeleted:)``;
    ///   ``PersistentHistoryError/noStore``; ``ObjectGraphError/unsupportedRequest(storeType:request:)``; errors of the
    ///   store.
    /// - Complexity: O(number of changes since the last exchange).
    public func changeSet(
        ofStore uuid: UUID? = nil,
        sizeLimit: Int = ChangeSet.defaultSizeLimit
    ) throws -> ChangeSet? {
        try exchangeStore(uuid, for: ChangeSetRequest.self)
            .execute(ChangeSetRequest(sizeLimit: sizeLimit), with: RequestContext())
    }

    /// Applies a change set of the common order to a store, in one transaction, and announces it to the contexts.
    ///
    /// The policy decides conflicts with changes of the store that the common order does not contain yet:
    ///
    /// | policy | a property that both have changed | an object that the change set deletes and the store has changed |
    /// |---|---|---|
    /// | ``MergePolicy/error`` | the call throws | the call throws |
    /// | ``MergePolicy/mergeByPropertyStoreTrump`` | keeps the value of the store | is deleted |
    /// | ``MergePolicy/mergeByPropertyObjectTrump`` | takes the value of the change set | is deleted |
    /// | ``MergePolicy/overwrite`` | takes the value of the change set | stays |
    /// | ``MergePolicy/rollback`` | keeps the value; so do all properties of the object | is deleted |
    ///
    /// An object that the store has deleted stays deleted under all policies but ``MergePolicy/error``. The author of a
    /// change set has applied the delete rules: the store deletes the same objects, and clears all references to them.
    /// It applies the rules itself only to relationships that it has changed since the last exchange: an object stays
    /// if the rule `deny` or a required reference among them demands it. The rule `cascade` does not delete the members
    /// of many-to-many relationships then. A property keeps its value if another object has its new unique value. A
    /// store without changes of its own equals the common order afterwards. The next change set of the store contains
    /// each difference between the store and the common order, so that all stores end with the same content.
    ///
    /// - Parameters:
    ///   - changeSet: The change set whose ``ChangeSet/sequence`` follows the position of the store, or an earlier
    ///     change set, which is skipped.
    ///   - mergePolicy: The resolution of conflicts.
    ///   - uuid: The store; nil for the only store of the coordinator.
    /// - Throws: ``ExchangeError``; ``PersistentHistoryError/noStore``; ``ObjectGraphError/storeIsReadOnly``;
    ///   ``ObjectGraphError/unsupportedRequest(storeType:request:)``; errors of the store. The store is unchanged then.
    /// - Complexity: O(*n* + *m*) in the number of changes and of the store's changes that were not exchanged.
    @discardableResult
    public func apply(
        _ changeSet: ChangeSet,
        mergePolicy: MergePolicy = .mergeByPropertyStoreTrump,
        toStore uuid: UUID? = nil
    ) throws -> ChangeSetResult {
        let store = try exchangeStore(uuid, for: ChangeSetApplication.self)
        let application = ChangeSetApplication(changeSet, mergePolicy: mergePolicy)
        let result = try store.execute(application, with: RequestContext())
        if let number = result.transaction { announce(number, of: store) }
        return result
    }

    /// Returns the position of a store in the common order of its exchange; the position before the first exchange for a
    /// store that cannot exchange its changes.
    ///
    /// - Parameter uuid: The store; nil for the only store of the coordinator.
    /// - Throws: ``PersistentHistoryError/noStore``; errors of the store.
    public func exchangeState(ofStore uuid: UUID? = nil) throws -> ExchangeState {
        guard let store = try store(withIdentity: uuid) as? any ExchangeStore else {
            return ExchangeState(replica: nil, position: 0)
        }
        return try store.execute(ExchangeStateRequest(), with: RequestContext())
    }

    /// The store with an identity, or the only store for nil, with the capability to exchange its changes.
    private func exchangeStore(_ uuid: UUID?, for request: Any.Type) throws -> any ExchangeStore {
        try store(withIdentity: uuid).with((any ExchangeStore).self, for: request)
    }

    /// Announces a transaction, which no context has written, to the contexts.
    private func announce(_ number: Int64, of store: any HistoryStore) {
        let request = HistoryFetchRequest(after: number - 1, through: number)
        // The transaction is committed: if it cannot be read, the contexts reload their objects.
        let transactions = try? store.execute(request, with: RequestContext())
        announce(transactions.map { Commit($0) } ?? Commit.unknown(.others))
    }
}
