/// A context as the store of its child contexts: they read its objects as they are in memory, and their saves become
/// its unsaved changes.
struct ParentStore {
    /// The parent.
    let context: ManagedObjectContext

    init(_ context: ManagedObjectContext) {
        self.context = context
    }

    var model: ManagedObjectModel { context.model }
    var identityMap: IdentityMap { context.identityMap }
    var loader: ObjectLoader { context.loader }
    var changeTracker: ChangeTracker { context.changeTracker }
    var fetcher: ObjectFetcher { context.fetcher }
    var deletePropagation: DeletePropagation { context.deletePropagation }

    /// Assigns permanent identifiers to all new objects, calls `body`, which answers a child context, and throws if the
    /// answer contains values that could not be read. These failures stay unreported in the parent.
    func answering<R>(_ body: () throws -> R) throws -> R {
        try obtainingKeys { try requiringReadableValues(body) }
    }

    /// Assigns permanent identifiers to all new objects and calls `body`, which changes objects for a child context.
    /// Values that `body` cannot read are reported in the parent only.
    func obtainingKeys<R>(_ body: () throws -> R) throws -> R {
        try context.permanentKeys.obtainForAll()
        return try body()
    }

    /// Calls `body`, which must not change anything, and throws if it could not read values.
    ///
    /// A value that could not be read before either counts again: the result contains its substitute.
    func requiringReadableValues<R>(_ body: () throws -> R) throws -> R {
        let readFailures = context.readFailures
        let additions = readFailures.additions
        let result = try body()
        guard readFailures.additions == additions else { throw ObjectGraphError.unreadable(readFailures.values) }
        return result
    }
}
