/// A store of objects that is read and written incrementally, as Core Data's `NSIncrementalStore` is.
///
/// A coordinator calls ``loadMetadata(of:for:)`` of the class that is registered for a type, which returns an open
/// store, and then the other methods from any thread, several at a time.
///
/// There is one `execute` for each type of request, with a separate result type. A store implements those for
/// `FetchRequest` and ``SaveChangesRequest``. Fetches of identifiers and counts are derived from them; the other
/// requests throw ``ObjectGraphError/unsupportedRequest(storeType:request:)`` unless the store implements them.
///
/// A store implements ``newValue(forRelationship:forObjectWith:with:)`` or
/// ``newValues(forRelationship:forObjectsWith:with:)``. Contexts call the second one, which is derived from the first.
public protocol IncrementalStore: AnyObject, Sendable {
    // MARK: Opening

    /// Opens the store that a description names, creates it if it does not exist, and checks that its schema fits the
    /// model.
    static func loadMetadata(
        of description: PersistentStoreDescription,
        for model: ManagedObjectModel
    ) throws -> Self

    /// Opens the store that a description names, or creates it, and checks whether ``loadMetadata(of:for:)`` can use it,
    /// without changing its content.
    ///
    /// - Returns: The description for ``loadMetadata(of:for:)``, which may have the open store as an option. The store
    ///   is closed when the description is released.
    static func prepared(
        _ description: PersistentStoreDescription,
        for model: ManagedObjectModel
    ) throws -> PersistentStoreDescription

    /// Returns the options of a description, with secrets in a form that no text shows and that is overwritten after
    /// use. It is called with any options when they are set, and returns unknown ones unchanged.
    static func secured(_ options: [String: any Sendable]) -> [String: any Sendable]

    /// The identity, the type and the format of the store.
    var metadata: StoreMetadata { get }

    /// Releases files and memory. No other method is called afterwards.
    func close() throws

    // MARK: Reading

    /// Returns the rows of the objects that match a request, in its order.
    func execute(_ request: FetchRequest, with context: ManagedObjectContext?) throws -> RowBatch

    /// Returns the identifiers of the objects that match a request, in its order.
    func execute(_ request: ObjectIDFetchRequest, with context: ManagedObjectContext?) throws -> [ManagedObjectID]

    /// Returns the number of objects that match a request, within its limit and offset.
    func execute(_ request: CountRequest, with context: ManagedObjectContext?) throws -> Int

    /// Returns rows of values computed from the objects that match a request. The context has checked that the request
    /// is unambiguous.
    func execute(_ request: DictionaryFetchRequest, with context: ManagedObjectContext?) throws -> DictionaryResults

    /// Returns the results of a full-text search, with their relevance and excerpts.
    func execute(_ request: FullTextMatchRequest, with context: ManagedObjectContext?) throws -> [StoredFullTextMatch]

    /// Returns the plan of a fetch.
    func execute(_ request: QueryPlanRequest, with context: ManagedObjectContext?) throws -> QueryPlan

    /// Runs `reads`, which calls methods of the store. Meanwhile the store reports the rows that it reads to the
    /// monitor, and ends a statement soon after the request was cancelled.
    ///
    /// - Throws: `CancellationError` if the store ended a statement; errors of `reads`.
    func monitoring<R>(_ monitor: RequestMonitor, _ reads: () throws -> R) throws -> R

    /// Returns transactions of the store's history.
    ///
    /// - Throws: ``PersistentHistoryError``.
    func execute(
        _ request: HistoryFetchRequest,
        with context: ManagedObjectContext?
    ) throws -> [PersistentHistoryTransaction]

    /// Returns the extent of the store's history.
    func execute(_ request: HistoryStateRequest, with context: ManagedObjectContext?) throws -> PersistentHistoryState

    /// Returns the changes that the common order of the store's exchange does not contain yet; nil if there are none.
    ///
    /// - Throws: ``ExchangeError``.
    func execute(_ request: ChangeSetRequest, with context: ManagedObjectContext?) throws -> ChangeSet?

    /// Returns the position of the store in the common order of its exchange.
    func execute(_ request: ExchangeStateRequest, with context: ManagedObjectContext?) throws -> ExchangeState

    // MARK: Writing

    /// Applies the changes of another store, all of them or none.
    ///
    /// - Throws: ``ExchangeError``.
    func execute(_ request: ChangeSetApplication, with context: ManagedObjectContext?) throws -> ChangeSetResult

    /// Deletes transactions from the store's history, and returns their number.
    func execute(_ request: HistoryDeletionRequest, with context: ManagedObjectContext?) throws -> Int

    /// Writes changes, all of them or none.
    func execute(_ request: SaveChangesRequest, with context: ManagedObjectContext?) throws

    /// Inserts rows, all of them or none. The store assigns their keys and checks that destinations exist.
    func execute(_ request: BatchInsertion, with context: ManagedObjectContext?) throws -> BatchChanges

    /// Changes the rows that match a request, all of them or none. The context has checked the properties and
    /// constants. The store increments the rows' versions, checks the values that it computes with
    /// ``Property/problem(of:)``, and checks that destinations exist.
    func execute(_ request: BatchUpdateRequest, with context: ManagedObjectContext?) throws -> BatchChanges

    /// Deletes the rows that match a request, all of them or none, by their delete rules, and all references to them.
    func execute(_ request: BatchDeleteRequest, with context: ManagedObjectContext?) throws -> BatchChanges

    /// Deletes all rows of the store, regardless of delete rules. Their keys are not used again.
    func execute(_ request: EraseRequest, with context: ManagedObjectContext?) throws

    /// Whether ``save(_:with:beforeCommit:)`` reverts its writes if the closure throws.
    var savesInTwoPhases: Bool { get }

    /// Writes the part of a save over several stores that belongs to this store, calls `beforeCommit`, and commits.
    ///
    /// All problems of the changes are thrown before the call of `beforeCommit`, in which the other stores write their
    /// parts. If it throws, the store reverts its writes and throws the same error. For a store that cannot do so,
    /// ``savesInTwoPhases`` is false; it uses the default implementation, and is written after the stores that can.
    func save(
        _ changes: SaveChangesRequest,
        with context: ManagedObjectContext?,
        beforeCommit: () throws -> Void
    ) throws

    // MARK: Faulting

    /// Returns the attributes and to-one relationships of an object, or nil if the store has no such object.
    func newValuesForObject(
        with id: ManagedObjectID,
        with context: ManagedObjectContext?
    ) throws -> IncrementalStoreNode?

    /// Returns the rows of several objects of one inheritance hierarchy, in any order, without those of missing
    /// objects.
    func newValuesForObjects(with ids: [ManagedObjectID], with context: ManagedObjectContext?) throws -> RowBatch

    /// Returns the destination or the members of an object's relationship: an ordered relationship in its order, any
    /// other by primary key.
    func newValue(
        forRelationship relationship: Relationship,
        forObjectWith id: ManagedObjectID,
        with context: ManagedObjectContext?
    ) throws -> RelationshipValue

    /// Returns the members of the same to-many relationship of several objects.
    func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: ManagedObjectContext?
    ) throws -> RelationshipRows

    // MARK: Identifiers and generations

    /// Returns permanent identifiers for new objects of a root entity or its subentities. No identifier is ever
    /// returned twice, whether or not the object is saved.
    func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID]

    /// Returns the current state of the store, to be read later by contexts whose
    /// ``ManagedObjectContext/queryGenerationToken`` contains it in its ``QueryGenerationToken/generations``; nil if
    /// the store has no snapshots.
    func currentQueryGeneration() throws -> (any QueryGeneration)?
}
