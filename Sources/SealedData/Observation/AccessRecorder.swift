import Guarded
import Observation

/// Records reads of the persisted properties of a model, and hides them from observers.
///
/// Tasks that the function starts inherit the recorder as a task-local value. Their reads are recorded while the
/// function runs.
final class AccessRecorder: Sendable {
    /// The recorder of the running function; nil outside of ``slots(of:readBy:)``.
    @TaskLocal static var current: AccessRecorder?

    private struct Accesses {
        var slots: Set<Int> = []
        /// Whether a property of another model was read, or a property that is not persisted.
        var hasOthers = false
    }

    private let model: ObjectIdentifier
    private let accesses = Guarded(Accesses())

    private init(of model: AnyObject) {
        self.model = ObjectIdentifier(model)
    }

    /// Returns the slots of a model that a function reads; nil if it reads a property of another model, or a property
    /// that is not persisted.
    static func slots(of model: AnyObject, readBy body: () -> Void) -> Set<Int>? {
        let recorder = AccessRecorder(of: model)
        // Properties report their reads only within withObservationTracking.
        $current.withValue(recorder) {
            withObservationTracking(body) {}
        }
        return recorder.accesses.withLock { $0.hasOthers ? nil : $0.slots }
    }

    func record(_ slot: Int, of model: AnyObject) {
        guard ObjectIdentifier(model) == self.model else { return recordOther() }
        accesses.withLock { _ = $0.slots.insert(slot) }
    }

    func recordOther() { accesses.withLock { $0.hasOthers = true } }
}
