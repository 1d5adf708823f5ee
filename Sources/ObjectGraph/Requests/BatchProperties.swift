extension Entity {
    /// Returns a property that a batch request names.
    func batchProperty(named name: String) throws(ObjectGraphError) -> Property {
        guard let property = propertiesByName[name] else {
            throw .invalidBatch(entity: self.name, property: name, reason: .unknownProperty)
        }
        return property
    }
}

extension Property {
    /// The reason for which a batch request cannot set the property to a constant; nil if it can.
    func batchRefusal(of value: Value) -> ObjectGraphError.BatchProblem? {
        switch self {
        case .attribute(let attribute):
            value.fits(attribute.type) ? nil : .wrongType
        case .relationship(let relationship):
            switch value {
            case .null, .integer: relationship.batchRefusal
            default: relationship.batchRefusal ?? .wrongType
            }
        }
    }

    /// The reason for which a batch request cannot set the property to a computed value; nil if it can. Single values
    /// are checked only when they are computed.
    func batchRefusal(ofComputed value: QueryExpression) -> ObjectGraphError.BatchProblem? {
        let storage = value.resultType?.storage
        switch self {
        case .attribute(let attribute):
            guard let storage, storage != attribute.type.storage else { return nil }
            return storage == .integer && attribute.type.storage == .real ? nil : .wrongType
        case .relationship(let relationship):
            return relationship.batchRefusal ?? (storage.map { $0 == .integer } ?? true ? nil : .wrongType)
        }
    }
}

extension Relationship {
    fileprivate var batchRefusal: ObjectGraphError.BatchProblem? {
        if isToMany { return .toMany }
        return sharers.isEmpty && inverse.map { $0.isToMany } ?? true ? nil : .inverseMustChange
    }
}
