import CExitGate

/// Keeps threads out of SQLCipher and libcrypto once the process is ending, see `CExitGate.h`.
///
/// A thread enters before it uses a connection or libcrypto. While the process ends, threads that enter, and threads
/// inside that access a page, wait for its end. They never continue, and may hold connections and locks: so the thread
/// that ends the process, which runs the functions passed to `atexit`, gets an error and waits for no other thread.
enum ExitGate {
    /// Whether the process is ending.
    static var isClosed: Bool { cexitgate_is_closed() != 0 }

    /// Enters. The caller reverses it by ``leave()`` on the same thread. Calls nest.
    ///
    /// - Throws: `closed` on the thread that ends the process.
    static func enter() throws(DatabaseError) {
        guard cexitgate_enter() != 0 else { throw .closed }
    }

    static func leave() { cexitgate_leave() }

    /// Runs `body`, which waits for another thread. The process can end while `body` waits.
    static func waiting<R>(_ body: () -> R) -> R {
        cexitgate_begin_waiting()
        defer { cexitgate_end_waiting() }
        return body()
    }
}
