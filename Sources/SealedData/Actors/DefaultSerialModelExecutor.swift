import Dispatch

/// A serial executor on a private dispatch queue.
///
/// `@unchecked Sendable`: both properties are constant. The context, which is not `Sendable`, is used only by jobs of
/// the executor, and the serial queue runs one job at a time, each after the writes of the previous one.
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
    /// The context.
    public let modelContext: ModelContext
    private let queue = DispatchQueue(label: "DefaultSerialModelExecutor")

    /// Creates an executor for a context. Afterwards only code that runs on the executor may use the context. The
    /// context autosaves on the executor if ``ModelContext/autosaveEnabled`` is true.
    public init(modelContext: ModelContext) {
        self.modelContext = modelContext
        modelContext.adopt(executor: self)
    }

    /// Runs a job after all previously enqueued jobs.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}
