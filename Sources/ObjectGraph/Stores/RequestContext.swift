/// The properties of a context that a store uses when it executes a request of the context.
///
/// Requests of the coordinator, such as the deletion of a history, come from no context.
public struct RequestContext {
    private let context: ManagedObjectContext?

    /// Makes the context of a request that no ``ManagedObjectContext`` makes.
    public init() {
        context = nil
    }

    init(_ context: ManagedObjectContext) {
        self.context = context
    }

    /// The author of the changes in the history of the store; nil if there is none. See
    /// ``ManagedObjectContext/transactionAuthor``.
    public var author: String? { context?.transactionAuthor }
    /// The state of the stores that is read; nil for the latest state.
    public var generation: QueryGenerationToken? { context?.queryGenerationToken }
    /// The list that receives the failures of values that the store leaves in place, by way of its ``RowBatchBuilder``;
    /// nil if no context reads them.
    public var readFailures: ReadFailures? { context?.readFailures }
    /// The object that the layer above associates with the context. See ``ManagedObjectContext/owner``.
    public var owner: AnyObject? { context?.owner }
}
