import CObservationTracking
import Foundation
import Guarded
import Observation
import Synchronization

// A model registers reads only inside `withObservationTracking`, because a registrar costs more than the whole model.
// Each read of a property checks this, so the check must cost almost nothing.

/// Detects whether the calling thread is inside `withObservationTracking`.
///
/// The Observation library stores this state in a private thread-local variable. On Linux the loader provides the
/// address of the library's thread-local storage. The variable is the word that is set only inside
/// `withObservationTracking`; each thread keeps its address. On other systems, or if no word behaves in this way, an
/// access is reported to a registrar without observers: it hashes the key path only if the thread tracks observation.
/// This is many times slower.
enum TrackingDetection {
    /// Whether the calling thread is inside `withObservationTracking`. The first call of a thread keeps the address of
    /// its variable, and `cobservationtracking_state` answers the later ones.
    @inline(never)
    static var isTracking: Bool { knowsVariable ? cobservationtracking_is_set() : isAccessRecorded }

    /// Whether the variable has been found.
    private static let knowsVariable: Bool = {
        // On a new thread, because the calling thread may track observation.
        let isFound = Guarded(false)
        let end = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            isFound.withLock { $0 = chooseVariable() }
            end.signal()
        }
        end.wait()
        return isFound.withLock(\.self)
    }()

    /// Searches for the variable on a thread that does not track observation, and selects it. Returns whether it was
    /// found.
    private static func chooseVariable() -> Bool {
        let library = unsafeBitCast(ObservationRegistrar.self as Any.Type, to: UnsafeRawPointer.self)
        let words = 0..<cobservationtracking_find(library)
        let outside = words.map(cobservationtracking_word)
        var inside: [UInt] = []
        withObservationTracking {
            inside = words.map(cobservationtracking_word)
        } onChange: {
        }
        let after = words.map(cobservationtracking_word)
        let candidates = words.filter { outside[$0] == 0 && inside[$0] != 0 && after[$0] == 0 }
        guard let word = candidates.first, candidates.count == 1 else { return false }
        cobservationtracking_choose(word)
        return true
    }

    /// Whether the calling thread, or another thread at the same time, is inside `withObservationTracking`, detected by
    /// an access to the probe.
    static var isAccessRecorded: Bool {
        let before = probe.hashCount.load(ordering: .relaxed)
        probe.registrar.access(probe, keyPath: probe.keyPath)
        return probe.hashCount.load(ordering: .relaxed) != before
    }

    private static let probe = Probe()

    /// The object that the access is registered for.
    private final class Probe: Observable, Sendable {
        let registrar = ObservationRegistrar()
        let hashCount = Atomic<Int>(0)

        var keyPath: KeyPath<Probe, Void> { \Probe[HashWitness(probe: self)] }

        subscript(witness: HashWitness) -> Void { () }
    }

    /// A key path component that counts its hashings in the probe.
    private struct HashWitness: Hashable {
        let probe: Probe

        static func == (left: HashWitness, right: HashWitness) -> Bool { left.probe === right.probe }

        func hash(into hasher: inout Hasher) { probe.hashCount.wrappingAdd(1, ordering: .relaxed) }
    }
}
