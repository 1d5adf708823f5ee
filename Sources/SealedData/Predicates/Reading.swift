import ObjectGraph

/// The translation of a node of a predicate.
enum Reading {
    /// A value that depends on no object.
    case constant(Constant)
    /// An attribute, or a value computed from attributes. A condition is 0 or 1.
    case value(QueryExpression)
    /// A value that is stored as JSON text, or a part of such a value that is not of a basic type.
    case composite(QueryExpression)
    /// An object.
    case object(ObjectReference)
    /// The members of a to-many relationship, or the elements of a composite value.
    case members(Members)
    /// A range whose bounds depend on an object.
    case range(QueryRange)
}

/// A captured value, or a value computed from captured values.
struct Constant {
    /// The value itself.
    let value: Any
    /// The stored form of the value; nil for collections, ranges, models and all else that is not an attribute's value.
    let literal: Value?

    init<T>(_ value: T) {
        self.value = value
        literal = queryLiteral(of: value)
    }
}

/// The object of a variable, or the object at the end of a path of to-one relationships from it.
struct ObjectReference {
    var variable: Int
    var path: [Property] = []
    /// The static entity of the object.
    var entity: Entity
    /// The condition without which the object counts as nil: the object, or an object of its path, is of the class to
    /// which it was cast.
    var requirement: QueryExpression?

    init(variable: Int, entity: Entity) {
        self.variable = variable
        self.entity = entity
    }

    /// The object's key, regardless of the requirement.
    var key: QueryExpression { path.isEmpty ? .variable(variable) : .path(from: variable, path) }

    /// The condition that the object exists; nil if it always does.
    var presence: QueryExpression? {
        if let requirement { return requirement }
        return path.isEmpty ? nil : .comparison(.notEqual, key, .literal(.null))
    }
}

/// The members of a collection for which conditions hold.
struct Members {
    /// The kind of a member.
    enum MemberKind {
        case object(Entity)
        case value(AttributeType)
    }

    var source: CollectionSource
    var member: MemberKind
    /// Conditions on a member, which is variable `number` in them.
    var filters: [QueryExpression] = []
    /// The number of the variable that a closure over the members binds.
    var number: Int
    /// Whether a collection that does not exist counts as an empty one.
    var isEmptyIfMissing = false

    /// The condition that the collection exists; nil if it always does.
    var presence: QueryExpression? {
        isEmptyIfMissing ? nil : source.owner.map { .comparison(.notEqual, $0, .literal(.null)) }
    }

    /// The reading of a member in a closure over the members.
    var reading: Reading {
        switch member {
        case .object(let entity): .object(ObjectReference(variable: number, entity: entity))
        case .value(.composite): .composite(source.member(number))
        case .value: .value(source.member(number))
        }
    }

    /// The number of members; null if the collection does not exist.
    var count: QueryExpression {
        orIfMissing(.literal(.integer(0)), .count(source, variable: number, condition: .conjunction(filters)))
    }

    /// Returns whether `condition` holds for a member; null if the collection does not exist.
    func contains(_ condition: QueryExpression) -> QueryExpression {
        let condition = QueryExpression.conjunction(filters + [condition])
        return orIfMissing(.bool(false), .quantifying(.any, source, variable: number, condition: condition))
    }

    /// Returns whether `condition` holds for all members; null if the collection does not exist.
    func allSatisfy(_ condition: QueryExpression) -> QueryExpression {
        let condition = QueryExpression.disjunction(filters.map { .negation($0) } + [condition])
        return orIfMissing(.bool(true), .quantifying(.all, source, variable: number, condition: condition))
    }

    /// Returns a result, or the result for an empty collection if the collection does not exist and counts as empty.
    private func orIfMissing(_ empty: QueryExpression, _ result: QueryExpression) -> QueryExpression {
        isEmptyIfMissing ? .coalescing(result, empty) : result
    }
}

/// The bounds of a range; a bound that is nil is open.
struct QueryRange {
    var lower: QueryExpression?
    var upper: QueryExpression?
    var includesUpper: Bool
}

extension Reading {
    /// Returns the reading as a value for comparisons and calculations.
    ///
    /// - Parameter part: The use of the value, which an error names.
    func expression(for part: @autoclosure () -> String) throws -> QueryExpression {
        switch self {
        case .constant(let constant):
            guard let literal = constant.literal else {
                throw UnsupportedPredicate("\(part()) with a captured '\(type(of: constant.value))'")
            }
            return .literal(literal)
        case .value(let expression): return expression
        case .composite: throw UnsupportedPredicate("\(part()) with an attribute that is not of a basic type")
        case .object(let object):
            guard let requirement = object.requirement else { return object.key }
            return .conditional(requirement, object.key, .literal(.null))
        case .members: throw UnsupportedPredicate("\(part()) with a to-many relationship")
        case .range: throw UnsupportedPredicate("\(part()) with a range")
        }
    }

    /// Returns the reading as a condition.
    func condition() throws -> QueryExpression {
        try expression(for: "a condition").asCondition
    }

    /// The reading for a node that can depend on objects even if its value does not: Foundation must not evaluate the
    /// node.
    var ofNode: Reading {
        if case .constant(let constant) = self, let literal = constant.literal {
            .value(.literal(literal))
        } else {
            self
        }
    }

    /// Whether the reading is a constant nil.
    var isNil: Bool {
        if case .constant(let constant) = self, case .null? = constant.literal { true } else { false }
    }

    var isConstant: Bool {
        if case .constant = self { true } else { false }
    }
}
