import CObservationTracking
import Observation
import Synchronization

// A model makes itself known to `withObservationTracking` only when it is read inside of it: a registrar costs more than
// the whole model. Whether that is the case is asked at each read of a property, so the answer must cost next to nothing.

/// Finds out how it can be told whether the calling thread is inside `withObservationTracking`.
///
/// The Observation library knows it from a variable of the thread that it does not publish. On Linux the loader tells where
/// the library's variables are, and the right one is the one that is set inside of `withObservationTracking` and not outside:
/// about 3 ns. Elsewhere, or where no variable behaves like that, a registrar that nothing depends on is told of an access:
/// it asks for the hash of the key path if, and only if, somebody keeps track, which is some times slower.
enum TrackingDetection {
    /// Whether the variable was found.
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

    /// Whether the calling thread is inside `withObservationTracking`, or another one is at the same time, as an unrelated
    /// access tells it.
    static var isAccessRecorded: Bool {
        let before = probe.hashCount.load(ordering: .relaxed)
        probe.registrar.access(probe, keyPath: probe.keyPath)
        return probe.hashCount.load(ordering: .relaxed) != before
    }

    private static let probe = Probe()

    /// What the unrelated access is of.
    private final class Probe: Observable, Sendable {
        let registrar = ObservationRegistrar()
        let hashCount = Atomic<Int>(0)

        var keyPath: KeyPath<Probe, Void> { \Probe[HashWitness(probe: self)] }

        subscript(witness: HashWitness) -> Void { () }
    }

    /// Has its probe count how often it is hashed.
    private struct HashWitness: Hashable {
        let probe: Probe

        static func == (left: HashWitness, right: HashWitness) -> Bool { left.probe === right.probe }

        func hash(into hasher: inout Hasher) { probe.hashCount.wrappingAdd(1, ordering: .relaxed) }
    }
}
