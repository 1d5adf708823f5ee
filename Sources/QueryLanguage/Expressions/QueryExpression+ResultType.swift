extension QueryExpression {
    /// The static type of the values; nil for a null constant, and for a value of one of several types.
    ///
    /// A calculation with integers has a 64-bit integer as result, with numbers of different kinds a double.
    public var resultType: AttributeType? {
        switch self {
        case .literal(let value): value.attributeType
        case .parameter(_, let storage):
            switch storage {
            case .integer: .int64
            case .real: .double
            case .text: .string
            case .blob: .data
            }
        case .variable: .int64
        case .element(_, let type), .component(_, _, let type): type
        case .path(_, let path):
            if case .attribute(let attribute)? = path.last { attribute.type } else { .int64 }
        case .and, .or, .not, .comparison, .isMember, .isKind, .quantified: .bool
        case .arithmetic(_, let left, let right):
            switch Self.numberKind(of: left, right) {
            case .int64: .int64
            case .uint64: .uint64
            case .double: .double
            case .decimal: .decimal
            }
        case .conditional(_, let first, let second): Self.commonType([first, second])
        case .coalesce(let parts): Self.commonType(parts)
        case .function(let function, let arguments): Self.type(of: function, arguments)
        case .aggregate(let aggregate, let argument), .aggregated(let aggregate, _, _, let argument, _):
            Self.type(of: aggregate, argument)
        }
    }

    /// The kind of numbers that a calculation uses.
    package enum NumberKind: String, CaseIterable, Sendable {
        case int64, uint64, double, decimal
    }

    /// Returns the kind of numbers for a calculation with two values.
    package static func numberKind(of left: QueryExpression, _ right: QueryExpression) -> NumberKind {
        let types = [left.resultType, right.resultType]
        if types.contains(where: { $0?.storage == .blob }) { return .decimal }
        if types.contains(where: { $0?.storage == .real }) { return .double }
        return types.contains(.uint64) ? .uint64 : .int64
    }

    private static func type(of function: Function, _ arguments: [QueryExpression]) -> AttributeType? {
        let type = arguments.first?.resultType
        return switch function {
        case .contains, .startsWith, .endsWith, .localizedContains, .like, .matches, .containsMatch, .equalsJSON:
            .bool
        case .slice: .composite
        case .length, .caseInsensitiveCompare, .localizedStandardCompare, .localizedCompare: .int64
        case .foldCase, .foldDiacritics, .foldCaseAndDiacritics, .uppercase, .lowercase: .string
        case .negate, .absolute, .ceiling, .floor, .truncate:
            switch type?.storage {
            case .real: .double
            case .blob: .decimal
            case .integer, .text, nil: .int64
            }
        case .squareRoot: .double
        case .power: arguments.allSatisfy { $0.resultType?.storage == .integer } ? .int64 : .double
        case .checkInt8: .int8
        case .checkInt16: .int16
        case .checkInt32: .int32
        case .checkUInt8: .uint8
        case .checkUInt16: .uint16
        case .checkUInt32: .uint32
        case .roundToFloat: .float
        case .minimum, .maximum: commonType(arguments)
        }
    }

    private static func type(of aggregate: Aggregate, _ argument: QueryExpression) -> AttributeType? {
        switch aggregate {
        case .count, .distinctCount: .int64
        case .sum:
            if argument.resultType == .decimal {
                .decimal
            } else if argument.resultType?.storage == .real {
                .double
            } else {
                .int64
            }
        case .average: [.date, .decimal].contains(argument.resultType) ? argument.resultType : .double
        case .minimum, .maximum: argument.resultType
        }
    }

    private static func commonType(_ expressions: [QueryExpression]) -> AttributeType? {
        let types = Set(expressions.compactMap(\.resultType))
        if types.count <= 1 { return types.first }
        let storages = Set(types.map(\.storage))
        if storages == [.integer] { return .int64 }
        return storages.isSubset(of: [.integer, .real]) ? .double : nil
    }
}

extension Value {
    /// The attribute type with the stored form of the value; nil for null.
    var attributeType: AttributeType? {
        switch self {
        case .null: nil
        case .integer: .int64
        case .real: .double
        case .text: .string
        case .blob: .data
        case .uuid: .uuid
        }
    }
}
