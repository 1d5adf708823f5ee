import CObservationTracking
import Observation
import Synchronization

// A model registers reads only inside `withObservationTracking`, because a registrar costs more than the whole model.
// Each read of a property checks this, so the check must cost almost nothing.

/// Detects whether the calling thread is inside `withObservationTracking`.
///
/// The Observation library stores that information in a private thread-local variable. On Linux the loader provides the
/// address of the library's thread-local storage. The variable is the word that is set only inside
/// `withObservationTracking`; reading it takes about 3 ns. On other systems, or if no word behaves in this way, an
/// access is reported to a registrar without observers: it hashes the key path only if the thread tracks observation.
/// This is several times slower.
enum TrackingDetection {
    /// Whether the variable has been found.
    static let knowsVariable: Bool = {
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
    }()

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
