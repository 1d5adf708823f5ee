/// An actor with a separate model context. ``ModelActor()`` generates the conformance.
public protocol ModelActor: Actor {
    /// The container whose stores the actor uses.
    nonisolated var modelContainer: ModelContainer { get }
    /// The executor that runs the actor's code and has its context.
    nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
    /// The executor as the unowned reference that the actor runtime uses.
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
        // A custom executor does not register with its context itself.
        if !(context.isolation?.isExecutor(executor) ?? false), let executor = executor as? any SerialModelExecutor {
            context.adopt(executor: executor)
        }
        return context
    }

    /// The model with an identifier; nil if it is not of class `type`.
    public subscript<T: PersistentModel>(id: PersistentIdentifier, as type: T.Type) -> T? {
        modelContext.model(for: id) as? T
    }
}
