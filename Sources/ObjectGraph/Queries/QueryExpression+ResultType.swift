extension QueryExpression {
    /// The type of the values, as far as it can be told without computing them; nil for a null constant, and for one of
    /// several types.
    ///
    /// Combined integers are 64-bit integers and combined numbers of different kinds doubles.
    public var resultType: AttributeType? {
        switch self {
        case .literal(let value): value.attributeType
        case .variable, .count: .int64
        case .path(_, let path):
            if case .attribute(let attribute)? = path.last { attribute.type } else { .int64 }
        case .and, .or, .not, .comparison, .isMember, .isKind, .quantified: .bool
        case .arithmetic(_, let left, let right):
            [left, right].contains { $0.resultType?.storage == .real } ? .double : .int64
        case .conditional(_, let first, let second): Self.commonType([first, second])
        case .coalesce(let parts): Self.commonType(parts)
        case .function(let function, let arguments): Self.type(of: function, arguments)
        case .aggregate(let aggregate, let argument): Self.type(of: aggregate, argument)
        }
    }

    private static func type(of function: Function, _ arguments: [QueryExpression]) -> AttributeType? {
        switch function {
        case .contains, .startsWith, .endsWith, .localizedContains: .bool
        case .length, .caseInsensitiveCompare: .int64
        case .negate: arguments.first?.resultType?.storage == .real ? .double : .int64
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
    fileprivate var attributeType: AttributeType? {
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
