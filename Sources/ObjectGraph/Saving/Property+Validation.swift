extension Property {
    /// Whether a save refuses some values of the property's type.
    public var restrictsValues: Bool {
        switch self {
        case .attribute(let attribute):
            !attribute.isOptional || attribute.type.restrictsStoredValues || !attribute.description.validation.isEmpty
        case .relationship(let relationship): !relationship.isToMany && !relationship.isOptional
        }
    }

    /// Returns the reason for which a save refuses null or a value of the property's type; nil if it accepts the value.
    public func problem(of value: Value) -> ObjectGraphError.ValidationProblem.Reason? {
        switch (self, value) {
        case (.attribute(let attribute), .null): attribute.isOptional ? nil : .missingValue
        case (.relationship(let relationship), .null):
            relationship.isToMany || relationship.isOptional ? nil : .missingValue
        case (.attribute(let attribute), _) where !value.isRepresentable(as: attribute.type): .notRepresentable
        case (.attribute(let attribute), _): attribute.description.validation.problem(of: value)
        case (.relationship, _): nil
        }
    }
}

extension AttributeValidation {
    /// Returns the rule that a value violates; nil if it satisfies all rules.
    func problem(of value: Value) -> ObjectGraphError.ValidationProblem.Reason? {
        if let minimum, value.compare(minimum) < 0 { return .tooSmall }
        if let maximum, value.compare(maximum) > 0 { return .tooLarge }
        let length: Int
        switch value {
        case .text(let text): length = text.count
        case .blob(let data): length = data.count
        case .null, .integer, .real, .uuid: return nil
        }
        if let minimumLength, length < minimumLength { return .tooShort }
        if let maximumLength, length > maximumLength { return .tooLong }
        return nil
    }
}
