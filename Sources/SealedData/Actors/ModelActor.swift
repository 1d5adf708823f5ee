/// An actor with a model context of its own. ``ModelActor()`` writes the conformance.
public protocol ModelActor: Actor {
    /// The container that the actor works on.
    nonisolated var modelContainer: ModelContainer { get }
    /// What runs the actor's code and holds its context.
    nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
    /// The executor in the form in which the actor's runtime takes it.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        guard let executor = modelExecutor as? any SerialModelExecutor else {
            preconditionFailure("the executor of a model actor is a SerialModelExecutor")
        }
        return executor.asUnownedSerialExecutor()
    }

    /// The actor's context.
    public var modelContext: ModelContext {
        let executor = modelExecutor
        let context = executor.modelContext
        // An executor of the program's own does not introduce itself to its context.
        if !(context.isolation?.isExecutor(executor) ?? false), let executor = executor as? any SerialModelExecutor {
            context.adopt(executor: executor)
        }
        return context
    }

    /// The model with an identifier, if it is of class `as`.
    public subscript<T: PersistentModel>(id: PersistentIdentifier, as type: T.Type) -> T? {
        modelContext.model(for: id) as? T
    }
}

/// What runs the code of a model actor and holds its context.
public protocol ModelExecutor: Executor {
    /// The context, to be used by code that the executor runs.
    var modelContext: ModelContext { get }
}

/// A model executor that runs one piece of code after the other.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}
