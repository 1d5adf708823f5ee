/// A context that is sent to the actor, executor or queue whose code uses it.
///
/// `@unchecked Sendable`: only the destination accesses the context; other threads only pass it on.
struct SentContext: @unchecked Sendable {
    let context: ModelContext
}

/// A weak reference to a context that is sent to the actor, executor or queue whose code uses the context.
///
/// `@unchecked Sendable`: only the destination follows the reference; other threads, such as a thread that announces a
/// save, only pass it on.
struct SentContextReference: @unchecked Sendable {
    private(set) weak var context: ModelContext?

    init(_ context: ModelContext) { self.context = context }
}
