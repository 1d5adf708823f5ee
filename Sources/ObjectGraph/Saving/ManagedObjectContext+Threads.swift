import Foundation
import Synchronization

extension ManagedObjectContext {
    /// Identifies the calling thread among those that run.
    private static var currentThread: UInt { UInt(bitPattern: ObjectIdentifier(Thread.current)) }

    /// Whether objects are being told of a save, or the save is being carried out.
    var isSaving: Bool { savingThread.load(ordering: .relaxed) != 0 }

    /// Begins a save on the calling thread.
    ///
    /// - Throws: ``ObjectGraphError/saveInProgress`` where the thread is saving the context already;
    ///   ``ObjectGraphError/usedByAnotherThread`` where another one is.
    func beginSaving() throws {
        let thread = Self.currentThread
        let (exchanged, original) = savingThread.compareExchange(
            expected: 0,
            desired: thread,
            ordering: .acquiringAndReleasing
        )
        guard !exchanged else { return }
        throw original == thread ? ObjectGraphError.saveInProgress : ObjectGraphError.usedByAnotherThread
    }

    func endSaving() { savingThread.store(0, ordering: .releasing) }

    /// Makes sure that no other thread is saving the context. It finds a program that breaks the rule that a context belongs
    /// to one thread at a time, as far as that costs nothing; it does not make such a program safe.
    ///
    /// - Throws: ``ObjectGraphError/usedByAnotherThread``.
    /// - Complexity: a load, unless the context is being saved.
    func requireOwnThread() throws {
        let thread = savingThread.load(ordering: .relaxed)
        guard thread == 0 || thread == Self.currentThread else { throw ObjectGraphError.usedByAnotherThread }
    }
}
