import CSQLCipher

extension Connection {
    /// The number of steps of SQLite's virtual machine between two calls of `isCancelled`: some ten microseconds.
    private static let stepsBetweenQuestions: Int32 = 1_000

    /// Runs `body`, whose statements on this connection throw `interrupted` soon after `isCancelled` returns true.
    ///
    /// Unlike `sqlite3_interrupt()`, it can never interrupt the next user of the connection. Calls cannot nest. A
    /// statement that waits for a lock does not call `isCancelled`.
    package func interruptible<R>(
        when isCancelled: @escaping @Sendable () -> Bool,
        _ body: () throws -> R
    ) throws -> R {
        let question = Question(isCancelled)
        sqlite3_progress_handler(
            handle,
            Self.stepsBetweenQuestions,
            { question in
                guard let question else { return 0 }
                return Unmanaged<Question>.fromOpaque(question).takeUnretainedValue().isCancelled() ? 1 : 0
            },
            Unmanaged.passUnretained(question).toOpaque()
        )
        defer {
            sqlite3_progress_handler(handle, 0, nil, nil)
            withExtendedLifetime(question) {}
        }
        return try body()
    }
}

/// The box that SQLite holds a pointer to.
private final class Question {
    let isCancelled: @Sendable () -> Bool

    init(_ isCancelled: @escaping @Sendable () -> Bool) {
        self.isCancelled = isCancelled
    }
}
