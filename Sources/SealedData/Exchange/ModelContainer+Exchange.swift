import SealedStore

@_exported public import struct ObjectGraph.ChangeSet
@_exported public import struct ObjectGraph.ChangeSetResult
@_exported public import struct ObjectGraph.ExchangeConflict
@_exported public import enum ObjectGraph.ExchangeError
@_exported public import struct ObjectGraph.ExchangeState
@_exported public import enum ObjectGraph.MergePolicy

extension ModelContainer {
    /// Returns the changes of an encrypted store that the common order of its exchange does not contain yet, as values.
    ///
    /// The app appends the change set to the common order, if no other device has done so with the same
    /// `ChangeSet.sequence`, and passes each change set of the common order, including its own change sets, to
    /// ``apply(_:to:mergePolicy:)``. The store must give its models global identifiers, see
    /// `HistoryOptions.identifiesObjects`. Before the first exchange, all its models are changes. A change set is
    /// `Codable`, and not encrypted.
    ///
    /// Many changes make several change sets. The app asks for the next change set when it has applied the previous
    /// one, and may stop and continue between any two of them.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the store; nil for the only encrypted store of the container.
    ///   - sizeLimit: The size of the change set in bytes, about the size of its coded form. A change set is larger by one
    ///     model, and by changes that need each other: the deletions of exchanged models and the changes of their unique
    ///     values and relationships, and new models that require each other.
    /// - Returns: Nil if there are no changes.
    /// - Throws: ``StoreSelectionError``; `ExchangeError.noIdentifiers`; `ExchangeError.expired`;
    ///   `ObjectGraphError.storeIsReadOnly`; `DatabaseError`.
    /// - Complexity: O(*n*) in the number of changes since the last exchange.
    public func changeSet(
        of configuration: ModelConfiguration? = nil,
        sizeLimit: Int = ChangeSet.defaultSizeLimit
    ) throws -> ChangeSet? {
        try stores.coordinator.changeSet(
            ofStore: stores.store(of: configuration).metadata.uuid,
            sizeLimit: sizeLimit
        )
    }

    /// Applies a change set of the common order to an encrypted store, in one transaction. The contexts follow as they
    /// follow the saves of other contexts.
    ///
    /// A change set that the store contains already is skipped, so that the app may repeat the call. The policy decides
    /// what both sides have changed:
    ///
    /// | policy | a property that both have changed | a deleted model that the store has changed |
    /// |---|---|---|
    /// | `error` | the call throws | the call throws |
    /// | `mergeByPropertyStoreTrump` | keeps the value of the store | is deleted |
    /// | `mergeByPropertyObjectTrump` | takes the value of the change set | is deleted |
    /// | `overwrite` | takes the value of the change set | stays |
    /// | `rollback` | keeps the value; so do all properties of the model | is deleted |
    ///
    /// The author of a change set has applied the delete rules: the store deletes the same models. It applies the rules
    /// itself only to relationships that it has changed and not exchanged. Required properties and uniqueness
    /// constraints hold afterwards. The next change set of the store contains everything in which the merge made the
    /// store differ from the common order.
    ///
    /// - Parameters:
    ///   - changeSet: The next change set of the common order.
    ///   - configuration: The configuration of the store; nil for the only encrypted store of the container.
    ///   - mergePolicy: The policy.
    /// - Returns: The outcome, with the conflicts.
    /// - Throws: ``StoreSelectionError``; `ExchangeError`, for example `outOfSequence` with the position from which the
    ///   store continues; `ObjectGraphError.storeIsReadOnly`; `DatabaseError`. The store is unchanged then.
    /// - Complexity: O(*n* + *m*) in the number of changes and of the store's changes that were not exchanged.
    @discardableResult
    public func apply(
        _ changeSet: ChangeSet,
        to configuration: ModelConfiguration? = nil,
        mergePolicy: MergePolicy = .mergeByPropertyStoreTrump
    ) throws -> ChangeSetResult {
        try stores.coordinator.apply(
            changeSet,
            mergePolicy: mergePolicy,
            toStore: stores.store(of: configuration).metadata.uuid
        )
    }

    /// Returns the position of an encrypted store in the common order of its exchange.
    ///
    /// - Parameter configuration: The configuration of the store; nil for the only encrypted store of the container.
    /// - Throws: ``StoreSelectionError``; `DatabaseError`.
    public func exchangeState(of configuration: ModelConfiguration? = nil) throws -> ExchangeState {
        try stores.coordinator.exchangeState(ofStore: stores.store(of: configuration).metadata.uuid)
    }
}
