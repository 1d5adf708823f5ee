import Dispatch

/// A serial executor on a queue of its own.
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
    // Sound because the context is only used by code that the executor runs, which is one piece after the other.

    /// The context.
    public let modelContext: ModelContext
    private let queue = DispatchQueue(label: "DefaultSerialModelExecutor")

    /// Makes an executor for a context that only code of the executor uses from now on. The context saves by itself on the
    /// executor if ``ModelContext/autosaveEnabled`` is true.
    public init(modelContext: ModelContext) {
        self.modelContext = modelContext
        modelContext.adopt(executor: self)
    }

    /// Runs a job after those that came before it.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    /// The executor in the form in which the runtime takes it.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}
