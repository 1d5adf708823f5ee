import Foundation

extension FormatReader {
    // MARK: Arithmetic

    mutating func negative(_ operand: FormatSyntax) throws(PredicateFormatError) -> FormatOperand {
        let result = QueryExpression.function(.negate, [try signedNumber(operand)])
        return .value(result, FormatType(of: result))
    }

    /// Reads a calculation. Seconds are added to and subtracted from dates; the difference of two dates is in seconds.
    mutating func arithmetic(
        _ operation: QueryExpression.Arithmetic,
        _ left: FormatSyntax,
        _ right: FormatSyntax,
        at range: Range<String.Index>
    ) throws(PredicateFormatError) -> FormatOperand {
        let sides = [FormatSide(try operand(left), left), FormatSide(try operand(right), right)]
        let types = [try type(of: sides[0]), try type(of: sides[1])]
        let date = FormatType.attribute(.date)
        if types.contains(date) {
            switch (operation, types[0] == date, types[1] == date) {
            case (.subtract, true, true):
                return .value(.arithmetic(.subtract, try value(sides[0]), try value(sides[1])), .attribute(.double))
            case (.add, true, false), (.subtract, true, false):
                return .value(.arithmetic(operation, try value(sides[0]), try number(sides[1], .double).value), date)
            case (.add, false, true):
                return .value(.arithmetic(.add, try number(sides[0], .double).value, try value(sides[1])), date)
            default:
                let message = "only seconds can be added to a date, and seconds or a date taken from it"
                throw error(.mismatchedTypes, message, at: range)
            }
        }
        let result = QueryExpression.calculating(
            operation,
            try number(sides[0], beside: sides[1]),
            try number(sides[1], beside: sides[0]),
            of: types.contains(.attribute(.uint64)) ? .uint64 : nil
        )
        return .value(result, FormatType(of: result))
    }

    /// Returns an operand of a calculation. A constant has the type of the other operand, with one exception: a
    /// floating-point number beside an integer makes the calculation a floating-point calculation. Signed and unsigned
    /// numbers are not combined, nor are decimals and floating-point numbers.
    private func number(
        _ side: FormatSide,
        beside other: FormatSide
    ) throws(PredicateFormatError) -> QueryExpression {
        var wanted: AttributeType?
        if case .attribute(let type) = try type(of: other), FormatType.attribute(type).isNumber { wanted = type }
        if case .constant(let constant) = side.operand {
            if case .constant = other.operand { wanted = nil }
            if constant.naturalType == .double, let type = wanted, type.storage == .integer, type != .uint64 {
                wanted = nil
            }
        }
        let (value, type) = try number(side, wanted)
        // A constant beside the value takes its type, or is refused itself.
        if case .constant = other.operand { return value.part(as: wanted ?? .double) }
        if let wanted, case .attribute(let own) = type, !Self.canBeCombined(own, wanted) {
            let message =
                "\(own.facts.description), \(text(of: side.syntax)), is not combined with \(wanted.facts.description)"
            throw error(.mismatchedTypes, message, at: side.syntax.range)
        }
        return value.part(as: wanted ?? .double)
    }

    private static func canBeCombined(_ left: AttributeType, _ right: AttributeType) -> Bool {
        let types: Set = [left, right]
        if types.contains(.uint64) { return types.count == 1 }
        return !types.contains(.decimal) || types.isDisjoint(with: [.float, .double])
    }

    mutating func power(
        _ base: FormatSyntax,
        _ exponent: FormatSyntax
    ) throws(PredicateFormatError) -> FormatOperand {
        let result = QueryExpression.function(.power, [try signedNumber(base), try signedNumber(exponent)])
        return .value(result, FormatType(of: result))
    }

    private func type(of side: FormatSide) throws(PredicateFormatError) -> FormatType {
        if case .constant(let constant) = side.operand {
            return constant.naturalType.map { .attribute($0) } ?? .unknown
        }
        return try value(of: side).type
    }

    private func value(_ side: FormatSide) throws(PredicateFormatError) -> QueryExpression { try value(of: side).value }

    /// Returns an operand as a number.
    private func number(
        _ side: FormatSide,
        _ wanted: AttributeType? = nil
    ) throws(PredicateFormatError) -> (value: QueryExpression, type: FormatType) {
        let (value, type) = try value(of: side, as: wanted)
        guard type.isNumber else {
            let message = "\(text(of: side.syntax)) is \(type.kindDescription), and a calculation needs numbers"
            throw error(.mismatchedTypes, message, at: side.syntax.range)
        }
        return (value, type)
    }

    /// Reads a node as an argument of a numeric function, which unsigned 64-bit integers cannot be.
    mutating func signedNumber(_ syntax: FormatSyntax) throws(PredicateFormatError) -> QueryExpression {
        let (value, type) = try number(FormatSide(try operand(syntax), syntax))
        if type == .attribute(.uint64) {
            let message = "a store computes no function of \(type.kindDescription), which \(text(of: syntax)) is"
            throw error(.mismatchedTypes, message, at: syntax.range)
        }
        return value.part(as: .double)
    }

    // MARK: Casts

    /// Reads CAST to a type by its name, with or without NS before it, or to an entity.
    mutating func cast(_ syntax: FormatSyntax, to type: FormatSyntax) throws(PredicateFormatError) -> FormatOperand {
        guard case .constant(.text(let name)) = try operand(type) else {
            throw error(.mismatchedTypes, "CAST needs the name of a type as text", at: type.range)
        }
        let operand = try operand(syntax)
        let plainName = name.hasPrefix("NS") ? String(name.dropFirst(2)) : name
        guard let target = Self.castTypes[plainName] ?? AttributeType(rawValue: name) else {
            if let entity = entity(named: name) {
                return try cast(FormatSide(operand, syntax), to: entity, at: type.range)
            }
            let known = Self.castTypes.keys + entities.map(\.name)
            let suggestions = NameSuggestions(for: name, among: known).names
            throw error(
                .unknownName,
                "CAST knows no type or entity of this name",
                suggestions: suggestions,
                at: type.range
            )
        }
        switch operand {
        case .constant(let constant):
            if let converted = constant.converted(to: target) { return .constant(converted) }
            let message = "\(constant.kindDescription) cannot be cast to '\(target.rawValue)', or not in this form"
            throw error(.mismatchedTypes, message, at: syntax.range)
        default:
            let (value, source) = try value(of: FormatSide(operand, syntax))
            switch (source, target) {
            case (.unknown, _): return .value(value.part(as: target), .attribute(target))
            case (.attribute(target), _), (.attribute(.url), .string), (.attribute(.date), .double):
                return .value(value.typed(as: target), .attribute(target))
            case (.attribute(.int64), .uint64) where value.constantParts?.allSatisfy(\.isUnsigned) ?? false:
                return .value(value.typed(as: target), .attribute(target))
            case (.attribute(.int64), .double), (.attribute(.int64), .date), (.attribute(.double), .date):
                return .value(value, .attribute(target))
            default:
                let message = "\(source.kindDescription) cannot be cast to '\(target.rawValue)' in a store"
                throw error(.mismatchedTypes, message, at: syntax.range)
            }
        }
    }

    private static let castTypes: [String: AttributeType] = AttributeType.allCases.reduce(into: ["Decimal": .decimal]) {
        types,
        type in
        if let name = type.facts.castName { types[name] = type }
    }

    /// Casts an object to a descendant of its entity, or a key to the object with that key.
    private func cast(
        _ side: FormatSide,
        to entity: Entity,
        at range: Range<String.Index>
    ) throws(PredicateFormatError) -> FormatOperand {
        switch side.operand {
        case .constant(.integer(let key)): return .constant(.object(ObjectKey(entity: entity, key: key)))
        case .value(let value, .object(let own)) where own.rootIndex == entity.rootIndex:
            return .value(value, .object(entity))
        default:
            let message = "\(text(of: side.syntax)) is never an object of entity '\(entity.name)'"
            throw error(.mismatchedTypes, message, at: range)
        }
    }

    /// The entities that are reachable from the entity of the predicate.
    private var entities: [Entity] {
        var known = Set([subject.entity])
        var found = [subject.entity]
        var next = 0
        while next < found.count {
            let entity = found[next]
            let neighbours = entity.relationships.map(\.destination) + entity.subentities
            for neighbour in neighbours + [entity.superentity].compactMap(\.self)
            where known.insert(neighbour).inserted {
                found.append(neighbour)
            }
            next += 1
        }
        return found
    }

    func entity(named name: String) -> Entity? { entities.first { $0.name == name } }
}

extension Value {
    /// Whether the value is null or a signed integer that is not negative.
    fileprivate var isUnsigned: Bool {
        switch self {
        case .integer(let integer): integer >= 0
        case .null: true
        case .real, .text, .blob, .uuid: false
        }
    }
}

/// The object with a key.
private struct ObjectKey: PredicateObject {
    let entity: Entity
    let key: Int64

    func predicateKey(in entity: Entity) -> Int64? { entity.rootIndex == self.entity.rootIndex ? key : nil }

    var predicateEntityName: String { entity.name }
}
