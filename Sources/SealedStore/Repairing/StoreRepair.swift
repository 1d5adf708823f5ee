public import Foundation

/// The parts of a store that a repair may change.
public struct StoreRepairOptions: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Makes a set of bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Data that the store derives from its objects: indexes, full-text indexes, R-trees, sequences of keys, and
    /// versions of rows that have none. No value of an object changes.
    public static let derivedData = StoreRepairOptions(rawValue: 1)
    /// References that violate the model. An optional reference to a missing object becomes nil, and so does one whose
    /// inverse refers to another object; members that do not exist leave their relationship; members with the same
    /// position get different ones, in the same order; values of properties that an entity does not have become nil.
    public static let references = StoreRepairOptions(rawValue: 2)
}

/// The result of a repair.
public struct StoreRepairReport: Hashable, Sendable {
    /// The repaired problems, with the numbers of changed rows.
    public let repaired: [StoreProblem]
    /// The check after the repair.
    public let check: StoreReport
}

extension SealedStore {
    /// Repairs the problems that can be repaired without a loss, in one transaction, and checks the store.
    ///
    /// Nothing is repaired in a file with damaged pages, or with damage to the structure of a table: salvage it. Rows
    /// that lack a required value and references that must not be nil stay as they are; the check that the report
    /// contains names them. The repair does not go through contexts: objects that they hold are not refreshed, and
    /// their next save finds a conflict where a row changed.
    ///
    /// - Parameters:
    ///   - options: What the repair may change.
    ///   - progress: Counts to 1,000. It can be cancelled until the transaction is committed.
    /// - Returns: The repaired problems, and the check after the repair.
    /// - Throws: `ObjectGraphError.storeIsReadOnly`; `SaveConflict` if a unique index cannot be rebuilt because two
    ///   objects have the same values; `DatabaseError`; `CancellationError`. The store is unchanged then.
    /// - Complexity: O(*n* log *n*) in the number of rows.
    @discardableResult
    public func repair(
        _ options: StoreRepairOptions = .derivedData,
        progress: Progress? = nil
    ) throws -> StoreRepairReport {
        try opened.repair(options, WorkProgress(progress))
    }
}
