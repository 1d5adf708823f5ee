import CSQLCipher
import Synchronization

/// The thread that is inside ``Database/write(isBulk:_:)`` of a database.
///
/// Only the thread that holds the writer connection changes the value. Another thread compares the value with its own
/// identity; they are equal only if that thread has stored the value itself.
final class WritingThread: Sendable {
    /// The identity of the thread, or 0.
    private let identity = Atomic<UInt>(0)

    /// Whether the calling thread is inside `write`.
    var isCurrent: Bool { identity.load(ordering: .relaxed) == csqlcipher_thread_identity() }

    /// Records the calling thread.
    func begin() { identity.store(csqlcipher_thread_identity(), ordering: .relaxed) }

    func end() { identity.store(0, ordering: .relaxed) }
}
