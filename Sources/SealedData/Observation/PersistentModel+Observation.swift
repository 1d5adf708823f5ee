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
        _$beginObserving()
        ObservedModels.shared.registrar(for: self).access(self, keyPath: \Self.[_$slot: slot])
    }

    /// Tells observers that a property is about to change.
    public func _$willChange(at slot: Int) {
        ObservedModels.shared.registrar(for: self).willSet(self, keyPath: \Self.[_$slot: slot])
    }

    /// Tells observers that a property has changed.
    public func _$didChange(at slot: Int) {
        ObservedModels.shared.registrar(for: self).didSet(self, keyPath: \Self.[_$slot: slot])
    }

    /// What stands for the property in a slot among observers: which one changed is known by slot, whoever changed it.
    subscript(_$slot slot: Int) -> Void { () }

    // MARK: Properties that are not persisted

    /// Takes note that a property is read; to be called by the getter of a property that SealedData does not know, such as
    /// one that is computed of what stands elsewhere.
    public func access<Member>(keyPath: KeyPath<Self, Member>) {
        if let slot = PropertyLookup.slot(of: keyPath, in: Self.self) { return _$willRead(slot) }
        if isTrackingObservation() { ObservedModels.shared.registrar(for: self).access(self, keyPath: keyPath) }
    }

    /// Changes a property that SealedData does not know, telling observers before and after.
    ///
    /// - Throws: what `mutation` throws.
    public func withMutation<Member, Result>(
        keyPath: KeyPath<Self, Member>,
        _ mutation: () throws -> Result
    ) rethrows -> Result {
        if let slot = PropertyLookup.slot(of: keyPath, in: Self.self) {
            _$willChange(at: slot)
            defer { _$didChange(at: slot) }
            return try mutation()
        }
        return try ObservedModels.shared.registrar(for: self).withMutation(of: self, keyPath: keyPath, mutation)
    }
}

/// Whether the calling thread keeps track of the properties that it reads.
@usableFromInline
func isTrackingObservation() -> Bool {
    TrackingDetection.knowsVariable ? cobservationtracking_is_set() : TrackingDetection.isAccessRecorded
}
