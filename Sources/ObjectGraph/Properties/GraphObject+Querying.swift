extension GraphObject {
    /// The entity.
    public var _$queryEntity: Entity { entity }

    /// The key of ``managedObjectID``.
    public var _$queryKey: Int64 { state.pointee.handler == nil ? ensureKey() : state.pointee.key }

    /// The value that an attribute is stored as; null for a composite value that cannot be encoded.
    public func _$storedValue(at slot: Int) -> Value {
        switch slotValue(slot) {
        case .value(let value): value
        case .composite(let value): (try? value.encodedText()).map(Value.text) ?? .null
        case .unset, .members, .pending: .null
        }
    }

    /// The object that a to-one relationship leads to.
    public func _$queryDestination(at slot: Int) -> (any QueryObject)? { destination(at: slot) }

    /// The objects that a to-many relationship leads to.
    public func _$queryMembers(at slot: Int) -> [any QueryObject] { memberObjects(at: slot) }
}
