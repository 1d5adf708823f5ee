public import Foundation
import ObjectGraph

/// A transaction of an encrypted store.
public struct DefaultHistoryTransaction: HistoryTransaction {
    /// The type of the position in the history.
    public typealias TokenType = DefaultHistoryToken
    /// The type of the transaction's identifier.
    public typealias TransactionIdentifier = Int64

    private let transaction: PersistentHistoryTransaction
    private let classes: HistoryClasses
    /// Reads the changes, if the transaction was read without them.
    private let window: HistoryChangeWindow?

    /// The position after the transaction.
    public let token: DefaultHistoryToken

    init(
        _ transaction: PersistentHistoryTransaction,
        _ token: DefaultHistoryToken,
        _ classes: HistoryClasses,
        changes window: HistoryChangeWindow? = nil
    ) {
        self.transaction = transaction
        self.token = token
        self.classes = classes
        self.window = window
    }

    /// The transaction with the token that a predicate compares.
    var evaluated: DefaultHistoryTransaction {
        DefaultHistoryTransaction(transaction, token.evaluated, classes, changes: window)
    }

    /// The number of the transaction in its store. Later ones are larger, with gaps, and no number is used twice.
    public var transactionIdentifier: Int64 { transaction.number }
    /// The number of the transaction.
    public var id: Int64 { transaction.number }
    /// The time of the commit, according to the clock of the process that wrote it.
    public var timestamp: Date { transaction.timestamp }
    /// The identity of the store.
    public var storeIdentifier: String { transaction.storeUUID.uuidString }
    /// The ``ModelContext/author`` of the context that wrote the transaction.
    public var author: String? { transaction.author }
    /// The bundle identifier of the program that wrote the transaction, or its name.
    public var bundleIdentifier: String { transaction.bundleIdentifier }
    /// The name and number of the process that wrote the transaction.
    public var processIdentifier: String { transaction.processIdentifier }

    /// The changes, each model once: a ``DefaultHistoryInsert``, ``DefaultHistoryUpdate`` or ``DefaultHistoryDelete``.
    ///
    /// - Complexity: O(*n*) in the number of models, at each access.
    public var changes: [HistoryChange] {
        (window?.changes(of: transaction) ?? transaction.changes)
            .compactMap { classes.change($0, of: transaction.number) }
    }

    /// Whether both are the same transaction.
    public static func == (left: DefaultHistoryTransaction, right: DefaultHistoryTransaction) -> Bool {
        left.transaction.number == right.transaction.number && left.transaction.storeUUID == right.transaction.storeUUID
    }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(transaction.number)
        hasher.combine(transaction.storeUUID)
    }
}

/// The insertion of a model of an encrypted store.
public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert {
    /// The number of the transaction.
    public let transactionIdentifier: Int64
    /// The number of the change. Later ones are larger.
    public let changeIdentifier: Int64
    /// The identifier of the model.
    public let changedPersistentIdentifier: PersistentIdentifier
}

/// A change of properties of a model of an encrypted store.
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate {
    /// The number of the transaction.
    public let transactionIdentifier: Int64
    /// The number of the change. Later ones are larger.
    public let changeIdentifier: Int64
    /// The identifier of the model.
    public let changedPersistentIdentifier: PersistentIdentifier
    /// The changed properties: attributes and relationships. A change of a relationship changes its inverse, too.
    public let updatedAttributes: [any PropertyUpdate]
    /// The values of the changed attributes before the transaction, if the history records them.
    public let previousValues: HistoryTombstone<Model>
    /// The values of the changed attributes after the transaction, if the history records them.
    public let currentValues: HistoryTombstone<Model>
}

/// The deletion of a model of an encrypted store.
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete {
    /// The number of the transaction.
    public let transactionIdentifier: Int64
    /// The number of the change. Later ones are larger.
    public let changeIdentifier: Int64
    /// The identifier of the model.
    public let changedPersistentIdentifier: PersistentIdentifier
    /// The preserved values.
    public let tombstone: HistoryTombstone<Model>
}
