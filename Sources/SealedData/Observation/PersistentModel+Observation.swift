import CObservationTracking
import ObjectGraph
import Observation

extension PersistentModel {
    /// Takes note that a property is read, where somebody keeps track of what is read.
    @inlinable @inline(__always)
    func _$willRead(_ slot: Int) {
        if isTrackingObservation() { recordAccess(slot) }
    }

    @usableFromInline @inline(never)
    func recordAccess(_ slot: Int) {
        if let recorder = AccessRecorder.current { return recorder.record(slot, of: self) }
        _$beginObserving()
        ObservedModels.shared.registrar(for: self).access(
            ObservedProperties.shared,
            keyPath: ObservedProperties.keyPath(slot)
        )
    }

    /// Tells observers that a property is about to change.
    public func _$willChange(at slot: Int) {
        ObservedModels.shared.registrar(for: self).willSet(
            ObservedProperties.shared,
            keyPath: ObservedProperties.keyPath(slot)
        )
    }

    /// Tells observers that a property has changed.
    public func _$didChange(at slot: Int) {
        ObservedModels.shared.registrar(for: self).didSet(
            ObservedProperties.shared,
            keyPath: ObservedProperties.keyPath(slot)
        )
    }

    // MARK: Properties that are not persisted

    /// Takes note that a property is read; to be called by the getter of a property that SealedData does not know, such as
    /// one that is computed of what stands elsewhere.
    public func access<Member>(keyPath: KeyPath<Self, Member>) {
        if let recorder = AccessRecorder.current { return recorder.recordOther() }
        if let slot = PropertyLookup.properties(of: Self.self).slot(of: keyPath) { return _$willRead(slot) }
        if isTrackingObservation() { ObservedModels.shared.registrar(for: self).access(self, keyPath: keyPath) }
    }

    /// Changes a property that SealedData does not know, telling observers before and after.
    ///
    /// - Throws: what `mutation` throws.
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

/// Stands for the properties of any model in observation registrars.
///
/// A registrar compares key paths, and key paths with different roots are different. An inherited property is read by an
/// accessor of the superclass, and changed by an undo, a merge or its inverse through the class of the object; the root
/// must be the same for both. The registrar itself tells which model is meant.
final class ObservedProperties: Observable, Sendable {
    static let shared = ObservedProperties()

    /// The key path that stands for the property in a slot.
    static func keyPath(_ slot: Int) -> KeyPath<ObservedProperties, Void> { \.[slot] }

    subscript(slot: Int) -> Void { () }
}

/// Whether the calling thread keeps track of the properties that it reads.
@usableFromInline
func isTrackingObservation() -> Bool {
    TrackingDetection.knowsVariable ? cobservationtracking_is_set() : TrackingDetection.isAccessRecorded
}
