public import Foundation

/// A committed transaction in the history of a store.
///
/// The transactions of encrypted stores are ``DefaultHistoryTransaction``s. A custom store with a history provides a
/// type of its own, see ``HistoryProviding``.
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
    /// The type of the position in the history.
    associatedtype TokenType: Comparable, Hashable, Identifiable, Sendable
    /// The type of the transaction's identifier in its store.
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable

    /// The time of the commit.
    var timestamp: Date { get }
    /// The changes, each model once.
    var changes: [HistoryChange] { get }
    /// The position after the transaction.
    var token: TokenType { get }
    /// The identifier of the transaction in its store.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The identity of the store.
    var storeIdentifier: String { get }
    /// The ``ModelContext/author`` of the context that wrote the transaction.
    var author: String? { get }
}

/// The change of one model in a transaction.
public enum HistoryChange: Sendable {
    /// The model was inserted.
    case insert(any HistoryInsert)
    /// Properties of the model were changed.
    case update(any HistoryUpdate)
    /// The model was deleted.
    case delete(any HistoryDelete)

    /// The identifier of the model.
    public var changedPersistentIdentifier: PersistentIdentifier {
        switch self {
        case .insert(let insertion): insertion.changedPersistentIdentifier
        case .update(let update): update.changedPersistentIdentifier
        case .delete(let deletion): deletion.changedPersistentIdentifier
        }
    }
}

/// The insertion of a model.
public protocol HistoryInsert<Model>: Sendable {
    /// The class of the model.
    associatedtype Model: PersistentModel
    /// The type of the transaction's identifier.
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
    /// The type of the change's identifier.
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable

    /// The identifier of the transaction.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The identifier of the change in the store.
    var changeIdentifier: ChangeIdentifier { get }
    /// The identifier of the model.
    var changedPersistentIdentifier: PersistentIdentifier { get }
}

/// A change of a model's properties.
public protocol HistoryUpdate<Model>: Sendable {
    /// The class of the model.
    associatedtype Model: PersistentModel
    /// The type of the transaction's identifier.
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
    /// The type of the change's identifier.
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
    /// A changed property.
    typealias PropertyUpdate = PartialKeyPath<Model> & Sendable

    /// The identifier of the transaction.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The identifier of the change in the store.
    var changeIdentifier: ChangeIdentifier { get }
    /// The identifier of the model.
    var changedPersistentIdentifier: PersistentIdentifier { get }
    /// The changed properties.
    var updatedAttributes: [any PropertyUpdate] { get }
}

/// The deletion of a model.
public protocol HistoryDelete<Model>: Sendable {
    /// The class of the model.
    associatedtype Model: PersistentModel
    /// The type of the transaction's identifier.
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
    /// The type of the change's identifier.
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable

    /// The identifier of the transaction.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The identifier of the change in the store.
    var changeIdentifier: ChangeIdentifier { get }
    /// The identifier of the model.
    var changedPersistentIdentifier: PersistentIdentifier { get }
    /// The preserved values of the model.
    var tombstone: HistoryTombstone<Model> { get }
}

/// A position in the history of the stores of a container.
public protocol HistoryToken: Comparable, Codable, Hashable, Identifiable, Sendable {
    /// The type of the token's value.
    associatedtype TokenType: Codable, Hashable, Sendable

    /// The value.
    var tokenValue: TokenType? { get }
    /// The identity of the store.
    var storeIdentifier: String { get }
}

extension HistoryToken {
    /// Empty, for tokens that do not know their store.
    public var storeIdentifier: String { "" }
}
