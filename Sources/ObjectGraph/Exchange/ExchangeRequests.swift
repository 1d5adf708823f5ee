public import Foundation

/// A request for the changes of a store that the common order does not contain yet.
public struct ChangeSetRequest: Sendable {
    /// The size in bytes above which the change set contains a part of the changes. It is about the size of the coded
    /// form.
    public var sizeLimit: Int

    /// Makes a request.
    public init(sizeLimit: Int = ChangeSet.defaultSizeLimit) {
        self.sizeLimit = sizeLimit
    }
}

/// A request to apply the changes of another store.
public struct ChangeSetApplication: Sendable {
    /// The changes.
    public var changeSet: ChangeSet
    /// The resolution of conflicts with changes of the store that the common order does not contain yet.
    public var mergePolicy: MergePolicy

    /// Makes a request.
    public init(_ changeSet: ChangeSet, mergePolicy: MergePolicy) {
        self.changeSet = changeSet
        self.mergePolicy = mergePolicy
    }
}

/// A request for the position of a store in the common order.
public struct ExchangeStateRequest: Sendable {
    /// Makes a request.
    public init() {}
}

/// The position of a store in the common order of an exchange.
public struct ExchangeState: Hashable, Sendable {
    /// The identity of the file in the exchange, see ``ChangeSet/origin``; nil before the first exchange.
    public var replica: UUID?
    /// The ``ChangeSet/sequence`` of the last change set that the store contains; 0 if it contains none.
    public var position: Int64

    /// Makes a state.
    public init(replica: UUID?, position: Int64) {
        self.replica = replica
        self.position = position
    }
}

/// The result of applying a change set.
public struct ChangeSetResult: Hashable, Sendable {
    /// The effect of a change set on a store.
    public enum Outcome: Hashable, Sendable {
        /// The changes were applied.
        case applied
        /// The store itself has made the change set: its changes count as exchanged. A change set with the identifier
        /// of such a change set and other content is applied like a change set of another store.
        case acknowledged
        /// The store contains the change set already. Nothing was done.
        case skipped
    }

    /// The effect.
    public var outcome: Outcome
    /// The position of the store afterwards.
    public var position: Int64
    /// The conflicts with changes of the store that the common order does not contain yet.
    public var conflicts: [ExchangeConflict]
    /// The number of the transaction in the history of the store; nil if no object was changed.
    public var transaction: Int64?

    /// Makes a result.
    public init(outcome: Outcome, position: Int64, conflicts: [ExchangeConflict] = [], transaction: Int64? = nil) {
        self.outcome = outcome
        self.position = position
        self.conflicts = conflicts
        self.transaction = transaction
    }
}

/// A conflict between a change set and changes of the store that the common order does not contain yet.
public struct ExchangeConflict: Hashable, Sendable {
    /// The end of a conflict. Except for ``tookIncoming`` and ``deleted``, the store differs from the common order
    /// afterwards, and its next change set contains the difference.
    public enum Resolution: Hashable, Sendable {
        /// The property keeps the value of the store.
        case keptLocal
        /// The property has the value of the change set; the value of the store is lost.
        case tookIncoming
        /// The object is deleted; its changes in the store are lost.
        case deleted
        /// The object stays although the change set deletes it, because of its changes, a delete rule, or a required
        /// reference to it.
        case keptObject
        /// The object stays deleted; the change of its properties is dropped.
        case droppedUpdate
        /// The reference to an object that the store has deleted is dropped.
        case clearedReference
        /// The new object needs an object that the store has deleted, or a unique value of another object. It is not
        /// inserted.
        case droppedInsertion
        /// The new object and an object of the store have the same unique values. They are one object now.
        case merged
    }

    /// The global identifier of the object in the change set.
    public var identifier: UUID
    /// The name of the entity.
    public var entity: String
    /// The name of the property; nil if the conflict concerns the whole object.
    public var property: String?
    /// The end of the conflict.
    public var resolution: Resolution

    /// Makes a conflict.
    public init(identifier: UUID, entity: String, property: String?, resolution: Resolution) {
        self.identifier = identifier
        self.entity = entity
        self.property = property
        self.resolution = resolution
    }
}

/// A store that exchanges its changes with other stores.
public protocol ExchangeStore: HistoryStore {
    /// Returns the changes that the common order of the store's exchange does not contain yet; nil if there are none.
    ///
    /// - Throws: ``ExchangeError``.
    func execute(_ request: ChangeSetRequest, with context: RequestContext) throws -> ChangeSet?

    /// Returns the position of the store in the common order of its exchange.
    func execute(_ request: ExchangeStateRequest, with context: RequestContext) throws -> ExchangeState

    /// Applies the changes of another store, all of them or none.
    ///
    /// - Throws: ``ExchangeError``.
    func execute(_ request: ChangeSetApplication, with context: RequestContext) throws -> ChangeSetResult
}
