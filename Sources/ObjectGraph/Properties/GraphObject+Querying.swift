extension GraphObject {
    /// The entity.
    public var _$queryEntity: Entity { entity }

    /// The key of ``managedObjectID``.
    public var _$queryKey: Int64 { state.pointee.handler == nil ? ensureKey() : state.pointee.key }

    /// The stored form of an attribute's value; null for a composite value that cannot be encoded.
    public func _$storedValue(at slot: Int) -> Value {
        switch slotValue(slot) {
        case .value(let value): value
        case .composite(let value): (try? value.encodedText()).map(Value.text) ?? .null
        case .unset, .members, .pending: .null
        }
    }

    /// The destination of a to-one relationship.
    public func _$queryDestination(at slot: Int) -> (any QueryObject)? { destination(at: slot) }

    /// The members of a to-many relationship.
    public func _$queryMembers(at slot: Int) -> [any QueryObject] { memberObjects(at: slot) }
}
