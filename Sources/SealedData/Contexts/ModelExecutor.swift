/// An executor that runs the code of a model actor and has its context.
public protocol ModelExecutor: Executor {
    /// The context, which only code that the executor runs may use.
    var modelContext: ModelContext { get }
}

/// A model executor that runs one job at a time.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}
