import CSQLCipher

extension Connection {
    /// How many steps of SQLite's virtual machine pass between two questions: some ten microseconds.
    private static let stepsBetweenQuestions: Int32 = 1_000

    /// Runs `body`, whose statements on this connection throw `interrupted` soon after `isCancelled` answers true.
    ///
    /// Unlike an interruption from outside it can never hit the next user of the connection. One such call does not go
    /// inside another. A statement that is waiting for a lock does not ask.
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

/// What SQLite is given a pointer to.
private final class Question {
    let isCancelled: @Sendable () -> Bool

    init(_ isCancelled: @escaping @Sendable () -> Bool) {
        self.isCancelled = isCancelled
    }
}
