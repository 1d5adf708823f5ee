/// A store of objects that is read and written incrementally, as Core Data's `NSIncrementalStore` is.
///
/// A coordinator calls ``loadMetadata(of:for:)`` of the class that is registered for a type, which returns an open
/// store, and then the other methods from any thread, several at a time.
///
/// There is one `execute` for each type of request, with a separate result type. A store implements the methods for
/// `FetchRequest` and ``SaveChangesRequest``; fetches of identifiers and counts are derived from them. Each further
/// capability is a separate protocol, and a request for a capability that the store does not have throws
/// ``ObjectGraphError/unsupportedRequest(storeType:request:)``:
///
/// | protocol | capability |
/// |---|---|
/// | ``AggregateStore`` | values computed from objects |
/// | ``SearchStore`` | relevance and excerpts of full-text searches |
/// | ``QueryPlanStore`` | plans of fetches |
/// | ``MonitoredStore`` | the progress and the cancellation of reads |
/// | ``BatchStore`` | changes of many rows without objects |
/// | ``ErasableStore`` | the deletion of all rows |
/// | ``TwoPhaseStore`` | the reversal of a save together with other stores |
/// | ``SnapshotStore`` | earlier states |
/// | ``HistoryStore`` | a history of transactions |
/// | ``ExchangeStore`` | the exchange of changes with other stores |
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
    /// - Returns: The description for ``loadMetadata(of:for:)``, which may contain the open store. The store
    ///   is closed when the description is released.
    static func prepared(
        _ description: PersistentStoreDescription,
        for model: ManagedObjectModel
    ) throws -> PersistentStoreDescription

    /// Returns the options of a description, with secrets in a form that no text shows and that is overwritten after
    /// use. It is called with any options when they are set, and returns unknown options unchanged.
    static func secured(_ options: [String: any Sendable]) -> [String: any Sendable]

    /// The identity, the type and the format of the store.
    var metadata: StoreMetadata { get }

    /// Releases files and memory. No other method is called afterwards.
    func close() throws

    // MARK: Reading

    /// Returns the rows of the objects that match a request, in its order.
    func execute(_ request: FetchRequest, with context: RequestContext) throws -> RowBatch

    /// Returns the identifiers of the objects that match a request, in its order.
    func execute(_ request: ObjectIDFetchRequest, with context: RequestContext) throws -> [ManagedObjectID]

    /// Returns the number of objects that match a request, within its limit and offset.
    func execute(_ request: CountRequest, with context: RequestContext) throws -> Int

    // MARK: Writing

    /// Writes changes, all of them or none.
    func execute(_ request: SaveChangesRequest, with context: RequestContext) throws -> SaveResult

    // MARK: Faulting

    /// Returns the attributes and to-one relationships of an object, or nil if the store has no such object.
    func newValuesForObject(
        with id: ManagedObjectID,
        with context: RequestContext
    ) throws -> IncrementalStoreNode?

    /// Returns the rows of several objects of one inheritance hierarchy, in any order, without rows of missing objects.
    func newValuesForObjects(with ids: [ManagedObjectID], with context: RequestContext) throws -> RowBatch

    /// Returns the destination or the members of an object's relationship: an ordered relationship in its order, any
    /// other by primary key.
    func newValue(
        forRelationship relationship: Relationship,
        forObjectWith id: ManagedObjectID,
        with context: RequestContext
    ) throws -> RelationshipValue

    /// Returns the members of the same to-many relationship of several objects.
    func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: RequestContext
    ) throws -> RelationshipRows

    // MARK: Identifiers

    /// Returns permanent identifiers for new objects of a root entity or its subentities. No identifier is ever
    /// returned twice, whether or not the object is saved.
    func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID]
}
