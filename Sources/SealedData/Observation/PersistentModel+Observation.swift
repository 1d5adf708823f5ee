import CObservationTracking
import ObjectGraph
import Observation

extension PersistentModel {
    /// Records the read of a property if the calling thread tracks observation.
    @inlinable @inline(__always)
    func _$willRead(_ slot: Int) {
        if isTrackingObservation() { recordAccess(slot) }
    }

    @usableFromInline @inline(never)
    func recordAccess(_ slot: Int) {
        if let recorder = AccessRecorder.current { return recorder.record(slot, of: self) }
        _$beginObserving(at: slot)
        ObservedModels.shared.registrar(for: self).access(
            ObservedProperties.shared,
            keyPath: ObservedProperties.keyPath(slot)
        )
    }

    /// Notifies observers before a property changes.
    public func _$willChange(at slot: Int) {
        ObservedModels.shared.registrar(for: self).willSet(
            ObservedProperties.shared,
            keyPath: ObservedProperties.keyPath(slot)
        )
    }

    /// Notifies observers after a property has changed.
    public func _$didChange(at slot: Int) {
        ObservedModels.shared.registrar(for: self).didSet(
            ObservedProperties.shared,
            keyPath: ObservedProperties.keyPath(slot)
        )
    }

    // MARK: Properties that are not persisted

    /// Records the read of a property. The getter of a property that SealedData does not manage, such as one that is
    /// computed from other state, calls it.
    public func access<Member>(keyPath: KeyPath<Self, Member>) {
        if let recorder = AccessRecorder.current { return recorder.recordOther() }
        if let slot = PropertyLookup.properties(of: Self.self).slot(of: keyPath) { return _$willRead(slot) }
        if isTrackingObservation() { ObservedModels.shared.registrar(for: self).access(self, keyPath: keyPath) }
    }

    /// Changes a property that SealedData does not manage, and notifies observers before and after the change.
    ///
    /// - Throws: errors of `mutation`.
    public func withMutation<Member, Result>(
        keyPath: KeyPath<Self, Member>,
        _ mutation: () throws -> Result
    ) rethrows -> Result {
        if let slot = PropertyLookup.properties(of: Self.self).slot(of: keyPath) {
            _$willChange(at: slot)
            defer { _$didChange(at: slot) }
            return try mutation()
        }
        return try ObservedModels.shared.registrar(for: self).withMutation(of: self, keyPath: keyPath, mutation)
    }
}

/// The root of the key paths that represent the properties of all models in observation registrars.
///
/// A registrar compares key paths, and key paths with different roots are different. An accessor of the superclass
/// reads an inherited property, while an undo, a merge or a change of the inverse changes it through the class of the
/// object; both need the same root. The registrar itself identifies the model.
final class ObservedProperties: Observable, Sendable {
    static let shared = ObservedProperties()

    /// Returns the key path that represents the property in a slot.
    static func keyPath(_ slot: Int) -> KeyPath<ObservedProperties, Void> { \.[slot] }

    subscript(slot: Int) -> Void { () }
}

/// Whether the calling thread tracks the properties that it reads.
@usableFromInline
func isTrackingObservation() -> Bool {
    switch cobservationtracking_state() {
    case cobservationtracking_outside: false
    case cobservationtracking_inside: true
    default: TrackingDetection.isTracking
    }
}
