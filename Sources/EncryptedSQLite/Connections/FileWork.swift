import Dispatch
import Foundation
import Guarded

/// The running operations on a whole file: copies, checks of its pages, and replacements.
///
/// They take long, and use connections that belong to no pool. ``stop(_:)`` ends them, so that a database that is
/// locked, suspended or closed holds neither the key nor a lock on the file.
final class FileWork: Sendable {
    private struct State {
        var running: [Progress] = []
        /// The error that operations throw; nil while they can run.
        var refusal: DatabaseError?
    }

    private let state = Guarded(State())
    /// Entered by each running operation.
    private let group = DispatchGroup()

    /// Runs an operation, which ends soon after `progress` is cancelled.
    ///
    /// - Throws: The error of ``stop(_:)``; errors of `body`.
    func run<R>(_ progress: Progress, _ body: () throws -> R) throws -> R {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        let refusal = state.withLock { state -> DatabaseError? in
            guard state.refusal == nil else { return state.refusal }
            state.running.append(progress)
            group.enter()
            return nil
        }
        if let refusal { throw refusal }
        defer {
            state.withLock { state in
                if let index = state.running.firstIndex(where: { $0 === progress }) { state.running.remove(at: index) }
            }
            group.leave()
        }
        do {
            return try body()
        } catch  where error is CancellationError || error as? DatabaseError == .interrupted {
            throw state.withLock { $0.refusal } ?? error
        }
    }

    /// Cancels all operations, waits until they have ended, and refuses further ones. They throw `error`.
    func stop(_ error: DatabaseError) {
        refuse(error)
        waitUntilIdle()
    }

    /// Cancels all operations, and refuses further ones. They throw `error`.
    func refuse(_ error: DatabaseError) {
        let running = state.withLock { state in
            state.refusal = error
            return state.running
        }
        // Outside the lock, since a progress can have observers.
        for progress in running { progress.cancel() }
    }

    /// Waits until all operations have ended.
    func waitUntilIdle() {
        // The operations may never end.
        guard !ExitGate.isClosed else { return }
        ExitGate.waiting { group.wait() }
    }

    /// Allows operations again.
    func resume() { state.withLock { $0.refusal = nil } }
}
