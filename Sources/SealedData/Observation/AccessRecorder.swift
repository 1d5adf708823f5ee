import Observation

/// Records which persisted properties of a model are read, and keeps the reads from observers.
final class AccessRecorder: @unchecked Sendable {
    // Sound because only the thread that runs the recorded function has it.

    /// The recorder of the running function; nil outside of ``slots(of:readBy:)``.
    @TaskLocal static var current: AccessRecorder?

    private let model: ObjectIdentifier
    private var slots: Set<Int> = []
    private var hasOthers = false

    private init(of model: AnyObject) {
        self.model = ObjectIdentifier(model)
    }

    /// The slots of a model that a function reads; nil if it reads a property of another model, or one that is not
    /// persisted.
    static func slots(of model: AnyObject, readBy body: () -> Void) -> Set<Int>? {
        // Found out before: that takes a thread that does not keep track yet.
        _ = TrackingDetection.knowsVariable
        let recorder = AccessRecorder(of: model)
        // Properties make their reads known only within withObservationTracking.
        $current.withValue(recorder) {
            withObservationTracking(body) {}
        }
        return recorder.hasOthers ? nil : recorder.slots
    }

    func record(_ slot: Int, of model: AnyObject) {
        if ObjectIdentifier(model) == self.model { slots.insert(slot) } else { hasOthers = true }
    }

    func recordOther() { hasOthers = true }
}
