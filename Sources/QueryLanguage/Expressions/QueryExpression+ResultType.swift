extension QueryExpression {
    /// The static type of the values; nil for a null constant, and for a value of one of several types.
    ///
    /// A calculation with integers has a 64-bit integer as result, with numbers of different kinds a double. A constant
    /// has no type of its own: beside a value of the same storage class it has the type of that value.
    public var resultType: AttributeType? { staticType.type }

    /// Whether the value has one of several types, so that no calculation with it has one kind of numbers.
    package var hasConflictingTypes: Bool { staticType == .conflicting }

    private var staticType: StaticType {
        switch self {
        case .literal(let value): StaticType(value.attributeType)
        case .parameter(_, let storage):
            switch storage {
            case .integer: .one(.int64)
            case .real: .one(.double)
            case .text: .one(.string)
            case .blob: .one(.data)
            }
        case .variable: .one(.int64)
        case .element(_, let type), .component(_, _, let type): .one(type)
        case .path(_, let path):
            if case .attribute(let attribute)? = path.last { .one(attribute.type) } else { .one(.int64) }
        case .and, .or, .not, .comparison, .isMember, .isKind, .quantified: .one(.bool)
        case .arithmetic(_, let left, let right):
            switch Self.numberKind(of: left, right) {
            case .int64: .one(.int64)
            case .uint64: .one(.uint64)
            case .double: .one(.double)
            case .decimal: .one(.decimal)
            case nil: .conflicting
            }
        case .conditional, .coalesce: commonType
        case .function(let function, let arguments): type(of: function, arguments)
        case .aggregate(let aggregate, let argument), .aggregated(let aggregate, _, _, let argument, _):
            Self.type(of: aggregate, argument.staticType)
        }
    }

    /// The kind of numbers that a calculation uses.
    package enum NumberKind: String, CaseIterable, Sendable {
        case int64, uint64, double, decimal
    }

    /// Returns the kind of numbers for a calculation with two values; nil if a value has one of several types.
    package static func numberKind(of left: QueryExpression, _ right: QueryExpression) -> NumberKind? {
        let (left, right) = (left.staticType, right.staticType)
        if left == .conflicting || right == .conflicting { return nil }
        let storages = (left.type?.storage, right.type?.storage)
        if storages.0 == .blob || storages.1 == .blob { return .decimal }
        if storages.0 == .real || storages.1 == .real { return .double }
        return left.type == .uint64 || right.type == .uint64 ? .uint64 : .int64
    }

    private func type(of function: Function, _ arguments: [QueryExpression]) -> StaticType {
        switch function {
        case .contains, .startsWith, .endsWith, .localizedContains, .like, .matches, .containsMatch, .equalsJSON:
            return .one(.bool)
        case .slice: return .one(.composite)
        case .length, .caseInsensitiveCompare, .localizedStandardCompare, .localizedCompare: return .one(.int64)
        case .foldCase, .foldDiacritics, .foldCaseAndDiacritics, .uppercase, .lowercase: return .one(.string)
        case .negate, .absolute, .ceiling, .floor, .truncate:
            let type = arguments.first?.staticType ?? .null
            return switch type.type?.storage {
            case .real: .one(.double)
            case .blob: .one(.decimal)
            case .integer, .text: .one(.int64)
            case nil: type
            }
        case .squareRoot: return .one(.double)
        case .power: return .one(arguments.allSatisfy { $0.resultType?.storage == .integer } ? .int64 : .double)
        case .checkInt8: return .one(.int8)
        case .checkInt16: return .one(.int16)
        case .checkInt32: return .one(.int32)
        case .checkUInt8: return .one(.uint8)
        case .checkUInt16: return .one(.uint16)
        case .checkUInt32: return .one(.uint32)
        case .roundToFloat: return .one(.float)
        case .asUInt64: return .one(.uint64)
        case .asDecimal: return .one(.decimal)
        case .minimum, .maximum: return commonType
        }
    }

    private static func type(of aggregate: Aggregate, _ argument: StaticType) -> StaticType {
        switch aggregate {
        case .count, .distinctCount: .one(.int64)
        case .sum: argument.type.map { .one($0.sumType) } ?? argument
        case .average: .one(argument.type?.averageType ?? .double)
        case .minimum, .maximum: argument
        }
    }
}

// MARK: Values of one of several expressions

extension QueryExpression {
    /// The static type of a value.
    private enum StaticType: Equatable {
        /// The constant null.
        case null
        case one(AttributeType)
        /// One of several types, which are not numbers of one kind.
        case conflicting

        init(_ type: AttributeType?) {
            self = type.map { .one($0) } ?? .null
        }

        var type: AttributeType? {
            if case .one(let type) = self { type } else { nil }
        }

        /// Returns the type of a value of either type.
        func joined(with other: StaticType) -> StaticType {
            switch (self, other) {
            case (.null, _): return other
            case (_, .null): return self
            case (.one(let left), .one(let right)):
                if left == right { return self }
                // Negative integers and unsigned integers from 2^63 on have the same stored form.
                if left == .uint64 || right == .uint64 { return .conflicting }
                return switch (left.storage, right.storage) {
                case (.integer, .integer): .one(.int64)
                case (.integer, .real), (.real, .integer), (.real, .real): .one(.double)
                default: .conflicting
                }
            case (.conflicting, _), (_, .conflicting): return .conflicting
            }
        }
    }

    /// The type of a choice, a coalesced value, or the smallest or largest of several values.
    private var commonType: StaticType {
        var common = CommonType()
        collectTypes(into: &common)
        return common.type
    }

    private struct CommonType {
        /// The type of the parts that have one.
        var declared = StaticType.null
        /// The types of the constants by their storage class.
        var constants: [AttributeType.Storage: StaticType] = [:]
        private var storages: Set<AttributeType.Storage> = []

        mutating func add(_ type: StaticType) {
            declared = declared.joined(with: type)
            if let storage = type.type?.storage { storages.insert(storage) }
        }

        mutating func add(constant type: StaticType) {
            guard let storage = type.type?.storage else { return }
            constants[storage] = constants[storage, default: .null].joined(with: type)
        }

        var type: StaticType {
            constants.filter { !storages.contains($0.key) }.values.reduce(declared) { $0.joined(with: $1) }
        }
    }

    private func collectTypes(into common: inout CommonType) {
        switch self {
        case .literal, .parameter: common.add(constant: staticType)
        case .conditional(_, let first, let second):
            first.collectTypes(into: &common)
            second.collectTypes(into: &common)
        case .coalesce(let parts), .function(.minimum, let parts), .function(.maximum, let parts):
            for part in parts { part.collectTypes(into: &common) }
        default: common.add(staticType)
        }
    }
}

extension QueryExpression {
    /// The constants of which the value is one; nil if it can be another value.
    var constantParts: [Value]? {
        switch self {
        case .literal(let value): return [value]
        case .conditional(_, let first, let second):
            guard let first = first.constantParts, let second = second.constantParts else { return nil }
            return first + second
        default: return nil
        }
    }
}

// MARK: Constants of a known type

// Constants of UInt64 and Decimal have the stored form of another type. A value that consists of such constants only
// has no static type without a function that states it.
extension QueryExpression {
    /// Returns the value with a static type, which the source of the expression knows.
    package func typed(as type: AttributeType?) -> QueryExpression {
        switch type {
        case .uint64? where resultType == .int64: .function(.asUInt64, [self])
        case .decimal? where resultType == .data: .function(.asDecimal, [self])
        default: self
        }
    }

    /// Returns a calculation with two values of a type.
    package static func calculating(
        _ operation: Arithmetic,
        _ left: QueryExpression,
        _ right: QueryExpression,
        of type: AttributeType?
    ) -> QueryExpression {
        let result = QueryExpression.arithmetic(operation, left, right)
        guard type == .uint64, result.resultType != .uint64 else { return result }
        return .arithmetic(operation, left.typed(as: type), right)
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
