/// The meaning of a part of a predicate's text form.
enum FormatOperand {
    /// A literal or argument, whose stored form depends on the other side of the comparison.
    case constant(PredicateArgument)
    /// A value that a store computes.
    case value(QueryExpression, FormatType)
    /// The members of a to-many relationship, the elements of an array, or values of them.
    case collection(FormatCollection)
    /// A list that contains other operands than constants.
    case list([FormatSide])
}

/// An operand with its syntax node, which errors name.
struct FormatSide {
    let operand: FormatOperand
    let syntax: FormatSyntax

    init(_ operand: FormatOperand, _ syntax: FormatSyntax) {
        self.operand = operand
        self.syntax = syntax
    }
}

/// The static type of a value.
enum FormatType: Hashable {
    case attribute(AttributeType)
    /// An object, represented by its key.
    case object(Entity)
    /// A part of a composite value, or nil.
    case unknown

    /// Creates the type of an expression.
    init(of expression: QueryExpression) {
        self = expression.resultType.map { .attribute($0) } ?? .unknown
    }

    /// The type of an attribute; nil for objects and unknown values.
    var attributeType: AttributeType? {
        if case .attribute(let type) = self { type } else { nil }
    }

    /// The description of a value of the type.
    var kindDescription: String {
        switch self {
        case .attribute(let type): type.facts.description
        case .object(let entity): "an object of entity '\(entity.name)'"
        case .unknown: "a value"
        }
    }

    /// Whether values of the type can be text.
    var isText: Bool { self == .attribute(.string) || self == .unknown }

    /// Whether values of the type are numbers.
    var isNumber: Bool {
        switch self {
        case .attribute(let type): type.isNumber
        case .object: false
        case .unknown: true
        }
    }

    /// Whether values of the type have an order.
    var isOrdered: Bool {
        switch self {
        case .attribute(let type): type.isOrdered
        case .object: false
        case .unknown: true
        }
    }

    /// Returns whether values of both types can be compared.
    func isComparable(with other: FormatType) -> Bool {
        switch (self, other) {
        case (.unknown, _), (_, .unknown): true
        case (.object(let left), .object(let right)): left.rootIndex == right.rootIndex
        case (.attribute(let left), .attribute(let right)): left == right || left.isPlainNumber && right.isPlainNumber
        default: false
        }
    }
}
