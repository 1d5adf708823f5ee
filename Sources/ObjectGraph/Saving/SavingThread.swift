import Foundation
import Synchronization

/// The thread that saves a context. Detects nested saves, and threads that use a context while another thread saves it.
final class SavingThread {
    /// The thread; 0 if no thread is saving.
    private let thread = Atomic<UInt>(0)

    /// An identity of the calling thread that no other running thread has.
    private static var current: UInt { UInt(bitPattern: ObjectIdentifier(Thread.current)) }

    /// Calls `body`, which saves the context.
    ///
    /// - Throws: ``ObjectGraphError/saveInProgress`` if the thread is already saving the context;
    ///   ``ObjectGraphError/usedByAnotherThread`` if another thread is saving it; errors of `body`.
    func saving<R>(_ body: () throws -> R) throws -> R {
        let current = Self.current
        let (exchanged, original) = thread.compareExchange(
            expected: 0,
            desired: current,
            ordering: .acquiringAndReleasing
        )
        guard exchanged else {
            throw original == current ? ObjectGraphError.saveInProgress : ObjectGraphError.usedByAnotherThread
        }
        defer { thread.store(0, ordering: .releasing) }
        return try body()
    }

    /// Ensures that the context is not being saved.
    ///
    /// - Throws: as ``saving(_:)``.
    func requireNoSave() throws {
        try requireOwnThread()
        guard thread.load(ordering: .relaxed) == 0 else { throw ObjectGraphError.saveInProgress }
    }

    /// Ensures that no other thread is saving the context. This detects some programs that use a context on several
    /// threads at a time; it does not make them safe.
    ///
    /// - Throws: ``ObjectGraphError/usedByAnotherThread``.
    /// - Complexity: a load, unless the context is being saved.
    func requireOwnThread() throws {
        let thread = thread.load(ordering: .relaxed)
        guard thread == 0 || thread == Self.current else { throw ObjectGraphError.usedByAnotherThread }
    }
}
