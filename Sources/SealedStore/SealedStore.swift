import EncryptedSQLite
public import Foundation
public import ObjectGraph

/// A store of objects in an encrypted SQLCipher file, or in memory.
///
/// ```swift
/// SealedStore.register()
/// let coordinator = PersistentStoreCoordinator(model: model)
/// try coordinator.addPersistentStore(
///     PersistentStoreDescription(
///         type: SealedStore.storeType, url: url,
///         options: [SealedStore.keyOption: EncryptionKey.passphrase("correct horse battery staple")]))
/// ```
///
/// A program can register a subclass under another type.
///
/// `@unchecked Sendable`: the property is a constant of a `Sendable` type; a subclass that adds state guards it itself.
open class SealedStore: SharedStore, AggregateStore, SearchStore, QueryPlanStore, MonitoredStore, BatchStore,
    ErasableStore,
    TwoPhaseStore, SnapshotStore, ExchangeStore, @unchecked Sendable
{
    /// The type under which ``register()`` registers the class.
    public static let storeType = "SQLCipher"
    /// The option that holds the key: an `EncryptionKey`, or a passphrase as a `String`, which becomes an
    /// `EncryptionKey` as soon as it is set.
    public static let keyOption = "key"
    /// The option that holds the `Durability` of saves. Without it, saves survive a crash of the process, but not
    /// always a power failure.
    public static let durabilityOption = "durability"
    /// The option that holds whether SQLCipher overwrites all of its memory when it frees it, as a `Bool`. That makes
    /// it several times slower, for the whole process and until its end.
    public static let memorySecurityOption = "memorySecurity"
    /// The option that holds whether contexts receive the commits of other processes although nothing observes them, as
    /// a `Bool`. Live results receive them in any case.
    public static let followsOtherProcessesOption = "followsOtherProcesses"
    /// The option that holds the version of the program's model, as a `String` of numbers separated by points. Opening
    /// a store with a later version throws, so that a migration never undoes the changes of a newer program.
    public static let modelVersionOption = "modelVersion"
    /// The option that holds the `Progress` of a migration, which can be cancelled.
    public static let migrationProgressOption = "migrationProgress"
    /// The option that holds the versions through which a store is migrated, as an array of ``StoreMigrationStage``.
    public static let migrationStagesOption = "migrationStages"
    /// The option that holds the rules for duplicates of uniqueness constraints that a migration adds, as an array of
    /// ``DuplicateRule``.
    public static let duplicateRulesOption = "duplicateRules"
    /// The key of the description of the current step in the user info of a migration's progress.
    public static let migrationStepKey = ProgressUserInfoKey(rawValue: "SealedStoreMigrationStep")
    /// The key of the name of the entity that the current step of a migration concerns, in the user info of the
    /// progress.
    public static let migrationEntityKey = ProgressUserInfoKey(rawValue: "SealedStoreMigrationEntity")
    /// The key of the number of rows that the current step of a migration has written, as an `Int`, in the user info of
    /// the progress.
    public static let migrationRowsKey = ProgressUserInfoKey(rawValue: "SealedStoreMigrationRows")
    /// The option that holds ``DefaultValues``.
    public static let defaultValuesOption = "defaultValues"
    /// The value that a migration writes into rows without a value for an attribute, given the names of the entity that
    /// declares the attribute and of the attribute; nil for no value. `AttributeDescription.defaultValue` takes
    /// precedence.
    public typealias DefaultValues = @Sendable (_ entity: String, _ attribute: String) -> Value?
    /// The option that holds ``HistoryOptions``. Without it, a store records its history if an earlier opening had it.
    public static let historyOption = "history"
    /// The option that holds ``ScanWarnings``.
    public static let scanWarningsOption = "scanWarnings"

    let opened: OpenStore

    /// The model.
    public var model: ManagedObjectModel { opened.model }
    /// The description with which the store was opened, without the key.
    public var description: PersistentStoreDescription { opened.description }
    /// The identity, the type and the format of the store.
    public var metadata: StoreMetadata { opened.metadata }

    /// Creates a store of an open database.
    public required init(_ opened: OpenStore) {
        self.opened = opened
    }

    /// Registers the class under ``storeType``.
    public static func register() {
        PersistentStoreCoordinator.registerStoreClass(SealedStore.self, type: storeType)
    }

    // MARK: Opening

    /// Returns the options, with a passphrase in a `String` converted to an `EncryptionKey`.
    open class func secured(_ options: [String: any Sendable]) -> [String: any Sendable] {
        var options = options
        if let passphrase = options[keyOption] as? String { options[keyOption] = EncryptionKey.passphrase(passphrase) }
        return options
    }

    /// Opens a store, or creates it, and examines whether it fits the model or can be migrated, without updating it.
    ///
    /// - Returns: The description with the open store, which the next ``loadMetadata(of:for:)`` uses. If
    ///   it is released instead, the store is closed.
    /// - Throws: as ``loadMetadata(of:for:)``.
    open class func prepared(
        _ description: PersistentStoreDescription,
        for model: ManagedObjectModel
    ) throws -> PersistentStoreDescription {
        var prepared = description
        prepared.prepared = try StoreOpening(model: model, description: description).prepare()
        return prepared
    }

    /// Opens the file with the key, or creates it, and checks that it fits the model.
    ///
    /// - Throws: `DatabaseError` if the file cannot be opened; ``SealedStoreError/modelMismatch(_:)`` if it was created
    ///   for another model; ``SealedStoreError/damagedMetadata(_:)`` and ``SealedStoreError/foreignSchema(object:)`` if
    ///   a store did not write its metadata or its schema.
    ///
    /// A store whose last saves were lost in a power failure opens without them, and `RuntimeIssues` receives their
    /// number. It also receives the names of entities and properties that the store holds and the model does not have.
    open class func loadMetadata(
        of description: PersistentStoreDescription,
        for model: ManagedObjectModel
    ) throws -> Self {
        let prepared = description.prepared as? PreparedOpening
        let opening = try prepared?.opening ?? StoreOpening(model: model, description: description)
        let opened = try opening.open(prepared)
        opened.reportLogLoss()
        opened.reportSetAside()
        return self.init(opened)
    }

    /// Closes the file.
    open func close() throws {
        if opened.ownsDatabase { try opened.database.close() }
    }

    /// Writes all of the log into the file, and closes the file, which no other program may use.
    ///
    /// - Throws: `DatabaseError.diskFull` and others. The store is open then.
    package func closeCompletely() throws { try opened.database.closeCompletely() }

    // MARK: Reading

    /// Returns the rows of the objects that match a request.
    ///
    /// - Throws: `DatabaseError` from SQLite; ``SealedStoreError/unsupportedQuery(_:)`` for a condition that cannot be
    ///   translated to SQL; `QueryError` for an integer overflow, and for a pattern that cannot be evaluated.
    open func execute(_ request: FetchRequest, with context: RequestContext) throws -> RowBatch {
        try opened.reading(for: context) { try opened.fetch(request, in: $0) }
    }

    /// Returns the identifiers of the objects that match a request.
    open func execute(_ request: ObjectIDFetchRequest, with context: RequestContext) throws -> [ManagedObjectID] {
        try opened.reading(for: context) { _ in try opened.fetchIDs(request.objects) }
    }

    /// Returns the number of objects that match a request.
    open func execute(_ request: CountRequest, with context: RequestContext) throws -> Int {
        try opened.reading(for: context) { _ in try opened.count(request.objects) }
    }

    /// Returns rows of values, computed by one statement.
    open func execute(
        _ request: DictionaryFetchRequest,
        with context: RequestContext
    ) throws -> DictionaryResults {
        try opened.reading(for: context) { _ in try opened.fetchDictionaries(request) }
    }

    /// Returns the results of a full-text search.
    open func execute(
        _ request: FullTextMatchRequest,
        with context: RequestContext
    ) throws -> [StoredFullTextMatch] {
        try opened.reading(for: context) { _ in try opened.matches(request) }
    }

    /// Returns SQLite's plan of a fetch.
    open func execute(_ request: QueryPlanRequest, with context: RequestContext) throws -> QueryPlan {
        try opened.reading(for: context) { _ in try opened.explain(request.objects) }
    }

    /// Runs `reads` on one connection, whose statement ends soon after the request is cancelled.
    ///
    /// - Throws: `CancellationError` in that case; otherwise the errors of `reads`.
    open func monitoring<R>(_ monitor: RequestMonitor, _ reads: () throws -> R) throws -> R {
        do {
            // Nested reads use the same connection.
            return try opened.database.read { connection in
                try connection.interruptible(when: { monitor.isCancelled }) {
                    try connection.observingRows({ monitor.didRead(rows: $0) }, reads)
                }
            }
        } catch DatabaseError.interrupted {
            throw CancellationError()
        }
    }

    // MARK: Writing

    /// Writes changes in one transaction.
    ///
    /// - Throws: `DatabaseError` from SQLite; `SaveConflict` and `ObjectGraphError` for changes that cannot be saved.
    @discardableResult
    open func execute(_ request: SaveChangesRequest, with context: RequestContext) throws -> SaveResult {
        let result = try opened.save(request, author: context.author)
        if result.historyPosition != nil { opened.trimHistoryIfDue() }
        return result
    }

    /// Inserts rows in one transaction.
    open func execute(_ request: BatchInsertion, with context: RequestContext) throws -> BatchChanges {
        try opened.insert(request, author: context.author)
    }

    /// Changes rows in one transaction.
    open func execute(_ request: BatchUpdateRequest, with context: RequestContext) throws -> BatchChanges {
        try opened.update(request, author: context.author)
    }

    /// Deletes rows in one transaction.
    open func execute(_ request: BatchDeleteRequest, with context: RequestContext) throws -> BatchChanges {
        try opened.delete(request, author: context.author)
    }

    /// Deletes all rows in one transaction. The file keeps its size and reuses the space.
    open func execute(_ request: EraseRequest, with context: RequestContext) throws {
        try opened.erase(author: context.author)
    }

    /// Writes changes, calls `beforeCommit` and commits, in one transaction: an error of `beforeCommit` rolls it back.
    open func save(
        _ changes: SaveChangesRequest,
        with context: RequestContext,
        beforeCommit: () throws -> Void
    ) throws -> SaveResult {
        try opened.writeTransaction { _ in
            let result = try execute(changes, with: context)
            try beforeCommit()
            return result
        }
    }

    // MARK: History

    /// Returns transactions of the history.
    ///
    /// - Throws: `PersistentHistoryError`; ``SealedStoreError/damagedRow(entity:property:)``; `DatabaseError`.
    open func execute(
        _ request: HistoryFetchRequest,
        with context: RequestContext
    ) throws -> [PersistentHistoryTransaction] {
        try opened.history(request)
    }

    /// Returns the extent of the history.
    open func execute(
        _ request: HistoryStateRequest,
        with context: RequestContext
    ) throws -> PersistentHistoryState {
        try opened.historyState()
    }

    /// Deletes transactions from the history in one transaction.
    ///
    /// - Throws: `PersistentHistoryError.notRecorded`; `ObjectGraphError.storeIsReadOnly`; `DatabaseError`.
    open func execute(_ request: HistoryDeletionRequest, with context: RequestContext) throws -> Int {
        try opened.deleteHistory(request)
    }

    // MARK: Exchange

    /// Returns the changes that the common order of the store's exchange does not contain yet.
    ///
    /// - Throws: `ExchangeError`; `ObjectGraphError.storeIsReadOnly`; `DatabaseError`.
    open func execute(_ request: ChangeSetRequest, with context: RequestContext) throws -> ChangeSet? {
        try opened.changeSet(sizeLimit: request.sizeLimit)
    }

    /// Returns the position of the store in the common order of its exchange.
    open func execute(_ request: ExchangeStateRequest, with context: RequestContext) throws -> ExchangeState {
        try opened.exchangeState()
    }

    /// Applies the changes of another store in one transaction.
    ///
    /// - Throws: `ExchangeError`; `ObjectGraphError.storeIsReadOnly`; `DatabaseError`.
    open func execute(_ request: ChangeSetApplication, with context: RequestContext) throws -> ChangeSetResult {
        let result = try opened.apply(request.changeSet, request.mergePolicy)
        if result.transaction != nil { opened.trimHistoryIfDue() }
        return result
    }

    // MARK: Faulting

    /// Returns the row of an object, or nil if the store has no such object.
    open func newValuesForObject(
        with id: ManagedObjectID,
        with context: RequestContext
    ) throws -> IncrementalStoreNode? {
        try newValuesForObjects(with: [id], with: context).first { _ in true }.map(IncrementalStoreNode.init)
    }

    /// Returns the rows of objects.
    open func newValuesForObjects(
        with ids: [ManagedObjectID],
        with context: RequestContext
    ) throws -> RowBatch {
        guard let entity = ids.first?.entity else { return RowBatch() }
        return try opened.reading(for: context) { generation in
            try opened.rows(with: ids.map(\.key), of: entity, in: generation, readFailures: context.readFailures)
        }
    }

    /// Returns the members of a to-many relationship of several objects, with their rows.
    open func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: RequestContext
    ) throws -> RelationshipRows {
        try opened.reading(for: context) { generation in
            try opened.members(
                of: relationship,
                owners: ids.map(\.key),
                in: generation,
                readFailures: context.readFailures
            )
        }
    }

    // MARK: Identifiers and generations

    /// Returns identifiers from the store's sequence, which reserves them in blocks.
    open func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID] {
        try opened.obtainPermanentIDs(for: entity, count: count)
    }

    /// Returns the current state of the file; nil for a store in memory.
    open func currentQueryGeneration() throws -> (any QueryGeneration)? {
        try opened.database.snapshot().map { SnapshotGeneration($0, of: opened) }
    }
}
