import Dispatch

/// A context with a private queue, which can be used from any isolation: Core Data's private queue concurrency type.
///
/// ```swift
/// let background = BackgroundContext(coordinator: coordinator)
/// let count = try await background.perform { context in
///     for name in names { ManagedObject(entity: author, insertInto: context)["name"] = .text(name) }
///     try context.save()
///     return try context.count(FetchRequest(author))
/// }
/// ```
///
/// Closures run one after the other, each without interruption, and never on a thread of the cooperative pool, which a
/// slow disk must not block. Objects must not leave the closure; identifiers and values may.
public actor BackgroundContext {
    private let executor: QueueExecutor
    private let context: ManagedObjectContext

    /// Creates a context without objects.
    public init(coordinator: PersistentStoreCoordinator, mergePolicy: MergePolicy = .error) {
        executor = QueueExecutor()
        context = ManagedObjectContext(coordinator: coordinator)
        context.mergePolicy = mergePolicy
    }

    /// The executor of the queue.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Runs `body` with the context, after all previously requested work.
    ///
    /// - Throws: errors of `body`.
    public func perform<R: Sendable>(_ body: @Sendable (ManagedObjectContext) throws -> R) rethrows -> R {
        try body(context)
    }
}

/// Runs jobs one after the other on a dispatch queue.
private final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "BackgroundContext")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
