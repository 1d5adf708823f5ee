extension MergeConflict {
    /// The conflict of an object.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - object: The registered object; nil if no object is registered.
    ///   - persisted: The current row in the store; nil if the store has no row.
    init(_ id: ManagedObjectID, object: (any GraphObject)?, persisted: Row?) {
        let cached = object?.state.pointee.row
        let entity = object?.entity ?? id.entity
        self.init(
            objectID: id,
            oldVersion: Int(cached?.version ?? 0),
            newVersion: Int(persisted?.version ?? 0),
            objectSnapshot: object.map { object in entity.snapshot { object._$storedValue(at: $0) } } ?? [:],
            cachedSnapshot: cached.map { row in entity.snapshot(row.valueOrNull) },
            persistedSnapshot: persisted.map { row in entity.snapshot(row.valueOrNull) }
        )
    }
}

extension Entity {
    /// The values in a row by property name.
    fileprivate func snapshot(_ value: (Int) -> Value) -> [String: Value] {
        var values: [String: Value] = [:]
        for property in properties {
            if case .relationship(let relationship) = property, relationship.isToMany { continue }
            values[property.name] = value(property.slot)
        }
        return values
    }
}
