extension FormatReader {
    /// Two values of comparable types.
    struct Pair {
        let left: QueryExpression
        let right: QueryExpression
        let type: FormatType
    }

    /// Returns two operands as values of one type: a constant takes the type of the other operand.
    func pair(_ left: FormatSide, _ right: FormatSide) throws(PredicateFormatError) -> Pair {
        let (values, type) = try unified([left, right])
        return Pair(left: values[0], right: values[1], type: type)
    }

    /// Reads nodes as values of one type.
    mutating func unified(
        _ syntax: [FormatSyntax]
    ) throws(PredicateFormatError) -> (values: [QueryExpression], type: FormatType) {
        var sides: [FormatSide] = []
        for node in syntax { sides.append(FormatSide(try operand(node), node)) }
        return try unified(sides)
    }

    private func unified(
        _ sides: [FormatSide]
    ) throws(PredicateFormatError) -> (values: [QueryExpression], type: FormatType) {
        let leader = try leader(of: sides)
        var values: [QueryExpression] = []
        for side in sides {
            switch side.operand {
            case .constant(let constant):
                values.append(try literal(constant, as: leader.type, for: leader.side, at: side))
            default:
                let (value, type) = try value(of: side)
                guard type.isComparable(with: leader.type) else {
                    throw incomparable(side, type, leader.side, leader.type)
                }
                values.append(value.part(as: leader.type.attributeType ?? .composite))
            }
        }
        return (values, leader.type)
    }

    /// Returns the operand whose type the other operands take: the first typed operand that is not a constant, or the
    /// first typed constant.
    private func leader(of sides: [FormatSide]) throws(PredicateFormatError) -> (side: FormatSide, type: FormatType) {
        var first: (side: FormatSide, type: FormatType)?
        for side in sides {
            switch side.operand {
            case .constant(let constant):
                if first == nil, let type = constant.naturalType { first = (side, .attribute(type)) }
            default:
                let type = try value(of: side).type
                if type != .unknown { return (side, type) }
            }
        }
        // An integer constant takes the type of other numbers. A part of a composite value can be any number.
        if let first, first.type == .attribute(.int64) {
            var parts = 0
            for side in sides {
                guard case .constant(let constant) = side.operand else {
                    parts += 1
                    continue
                }
                if let type = constant.naturalType, [.double, .decimal, .uint64].contains(type) {
                    return (side, .attribute(type))
                }
            }
            if parts > 0, case .constant(let constant) = first.side.operand, case .real? = constant.value(as: .double) {
                return (first.side, .attribute(.double))
            }
        }
        return first ?? (sides[0], .unknown)
    }

    /// Returns a constant as a literal of a type.
    ///
    /// - Parameters:
    ///   - other: The other side of the comparison, which errors name.
    ///   - side: The operand of the constant.
    func literal(
        _ constant: PredicateArgument,
        as type: FormatType,
        for other: FormatSide,
        at side: FormatSide
    ) throws(PredicateFormatError) -> QueryExpression {
        switch (constant, type) {
        case (.null, _): return .literal(.null)
        case (.object(let object), .object(let entity)):
            if let key = object.predicateKey(in: entity) { return .literal(.integer(key)) }
        case (.list, _), (.range, _):
            throw error(.mismatchedTypes, "a list or range takes IN, CONTAINS or BETWEEN", at: side.syntax.range)
        case (_, .attribute(let type)):
            if let value = constant.value(as: type), !value.isNotANumber { return .literal(value) }
        case (_, .unknown):
            if let type = constant.naturalType, let value = constant.value(as: type), !value.isNotANumber {
                return .literal(value)
            }
        default: break
        }
        throw error(
            .mismatchedTypes,
            "\(constant.kindDescription) is not a value for \(text(of: other.syntax)), which is \(type.kindDescription)",
            at: side.syntax.range
        )
    }

    private func incomparable(
        _ side: FormatSide,
        _ type: FormatType,
        _ other: FormatSide,
        _ otherType: FormatType
    ) -> PredicateFormatError {
        let message = """
            \(text(of: side.syntax)) is \(type.kindDescription) and cannot be compared with \
            \(text(of: other.syntax)), which is \(otherType.kindDescription)
            """
        return error(.mismatchedTypes, message, at: side.syntax.range)
    }

    /// Returns an operand as a value. A constant has the wanted type, otherwise its natural type.
    func value(
        of side: FormatSide,
        as wanted: AttributeType? = nil
    ) throws(PredicateFormatError) -> (value: QueryExpression, type: FormatType) {
        switch side.operand {
        case .value(let value, .unknown):
            guard let wanted else { return (value, .unknown) }
            return (value.part(as: wanted), .unknown)
        case .value(let value, let type): return (value, type)
        case .constant(.null): return (.literal(.null), .unknown)
        case .constant(let constant):
            for type in [wanted, constant.naturalType].compactMap(\.self) {
                guard let value = constant.value(as: type), !value.isNotANumber else { continue }
                return (.literal(value), .attribute(type))
            }
            throw error(.mismatchedTypes, "\(constant.kindDescription) is not a value here", at: side.syntax.range)
        case .list: throw error(.mismatchedTypes, "a value is needed here, not a list", at: side.syntax.range)
        case .collection:
            let message = """
                \(text(of: side.syntax)) leads to any number of values: put ANY, ALL or NONE before the comparison, \
                or use SUBQUERY or a collection operator such as @count
                """
            throw error(.mismatchedTypes, message, at: side.syntax.range)
        }
    }

    /// Reads a node as a value.
    mutating func value(
        _ syntax: FormatSyntax,
        as wanted: AttributeType? = nil
    ) throws(PredicateFormatError) -> (value: QueryExpression, type: FormatType) {
        try value(of: FormatSide(try operand(syntax), syntax), as: wanted)
    }
}
