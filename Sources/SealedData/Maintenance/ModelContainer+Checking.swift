import ObjectGraph
public import SealedStore

@_exported public import enum SealedStore.SalvageError
@_exported public import struct SealedStore.SalvageReport
@_exported public import struct SealedStore.StoreProblem
@_exported public import struct SealedStore.StoreRepairOptions
@_exported public import struct SealedStore.StoreRepairReport
@_exported public import struct SealedStore.StoreReport

extension ModelContainer {
    /// Reads a whole encrypted store and finds its problems: damaged pages, indexes that differ from their tables, and
    /// content that violates the schema. It changes nothing, and other connections can write during the check.
    ///
    /// ```swift
    /// for problem in try container.check().problems { print(problem) }
    /// ```
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the store; nil for the only encrypted store of the container.
    ///   - progress: Counts to 1,000. It can be cancelled.
    /// - Returns: The report, which contains no stored value. Damage is a result, not an error.
    /// - Throws: ``StoreSelectionError``; `DatabaseError` if the check itself fails; `CancellationError`.
    /// - Complexity: O(*n* log *n*) in the number of models: each page and each row is read a few times.
    public func check(_ configuration: ModelConfiguration? = nil, progress: Progress? = nil) throws -> StoreReport {
        try stores.store(of: configuration).check(progress: progress)
    }

    /// Repairs the repairable problems of an encrypted store, in one transaction, and checks the store.
    ///
    /// The option `derivedData` rebuilds indexes, full-text indexes and sequences, and changes no model. The option
    /// `references` also removes references that violate the schema: references to missing models, and references whose
    /// inverse refers to another model. Models that contexts hold are not refreshed, and their next save finds a
    /// conflict where a row changed.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the store; nil for the only encrypted store of the container.
    ///   - options: What the repair may change.
    ///   - progress: Counts to 1,000. It can be cancelled until the transaction is committed.
    /// - Returns: The repaired problems, and the check after the repair.
    /// - Throws: ``StoreSelectionError``; `ObjectGraphError.storeIsReadOnly`; `DatabaseError`; `CancellationError`. The
    ///   store is unchanged then.
    /// - Complexity: O(*n* log *n*) in the number of models.
    @discardableResult
    public func repair(
        _ configuration: ModelConfiguration? = nil,
        _ options: StoreRepairOptions = .derivedData,
        progress: Progress? = nil
    ) throws -> StoreRepairReport {
        try stores.store(of: configuration).repair(options, progress: progress)
    }

    /// Repairs an encrypted store that no container has open, also one that does not open because another program has
    /// altered its schema: it makes missing indexes again, and removes foreign triggers and views.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - key: The key of the file.
    ///   - options: What the repair may change.
    ///   - progress: Counts to 1,000. It can be cancelled until the transaction is committed.
    /// - Returns: The repaired problems, and the check after the repair. If pages are damaged, nothing is repaired.
    /// - Throws: `DatabaseError`; `SealedStoreError`, among them `foreignSchema` if a table is missing or altered;
    ///   `CancellationError`.
    /// - Complexity: O(*n* log *n*) in the number of models.
    @discardableResult
    public static func repair(
        _ url: URL,
        key: EncryptionKey,
        _ options: StoreRepairOptions = .derivedData,
        progress: Progress? = nil
    ) throws -> StoreRepairReport {
        try SealedStore.repair(url, key: key, options, progress: progress)
    }
}
