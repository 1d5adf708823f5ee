extension ObjectGraphError {
    /// Why a batch request cannot write a property.
    public enum BatchProblem: String, Hashable, Sendable {
        case unknownProperty = "the entity has no such property"
        case toMany = "a to-many relationship is not written by batch requests"
        case inverseMustChange = "its inverse is to-one or ordered, so that other objects would have to change"
        case wrongType = "the value is of another type"
        case abstractEntity = "the entity is abstract"
        case needsMembers = "a new object needs members, which batch requests do not write"
    }
}

extension Entity {
    /// A property that a batch request names.
    func batchProperty(named name: String) throws(ObjectGraphError) -> Property {
        guard let property = propertiesByName[name] else {
            throw .invalidBatch(entity: self.name, property: name, reason: .unknownProperty)
        }
        return property
    }
}

extension Property {
    /// Why a batch request cannot give the property a constant; nil where it can.
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

    /// Why a batch request cannot give the property a computed value; nil where it can. That single values fit shows only
    /// when they are computed.
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

extension Property {
    /// Whether there are values of the right form that the property cannot be saved with.
    public var restrictsValues: Bool {
        switch self {
        case .attribute(let attribute):
            !attribute.isOptional || attribute.type.integerRange != nil || !attribute.description.validation.isEmpty
        case .relationship(let relationship): !relationship.isToMany && !relationship.isOptional
        }
    }

    /// What keeps a value of the right form, or null, from being saved; nil where nothing does.
    public func problem(of value: Value) -> ObjectGraphError.ValidationProblem.Reason? {
        switch (self, value) {
        case (.attribute(let attribute), .null): attribute.isOptional ? nil : .missingValue
        case (.relationship(let relationship), .null):
            relationship.isToMany || relationship.isOptional ? nil : .missingValue
        case (.attribute, .real(let real)) where real.isNaN: .notRepresentable
        case (.attribute(let attribute), .integer(let integer))
        where !(attribute.type.integerRange?.contains(integer) ?? true):
            .notRepresentable
        case (.attribute(let attribute), _): attribute.description.validation.problem(of: value)
        case (.relationship, _): nil
        }
    }
}

extension Relationship {
    fileprivate var batchRefusal: ObjectGraphError.BatchProblem? {
        if isToMany { return .toMany }
        return inverse.map { $0.isToMany } ?? true ? nil : .inverseMustChange
    }
}

extension AttributeType {
    /// The integers that values of the type can be; nil for other types, and for those that take all 64 bits.
    public var integerRange: ClosedRange<Int64>? {
        switch self {
        case .int8: Int64(Int8.min)...Int64(Int8.max)
        case .int16: Int64(Int16.min)...Int64(Int16.max)
        case .int32: Int64(Int32.min)...Int64(Int32.max)
        case .uint8: 0...Int64(UInt8.max)
        case .uint16: 0...Int64(UInt16.max)
        case .uint32: 0...Int64(UInt32.max)
        case .bool: 0...1
        case .int64, .uint64, .float, .double, .decimal, .string, .date, .uuid, .url, .data, .composite: nil
        }
    }
}
