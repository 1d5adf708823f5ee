import ObjectGraph

/// What a node of a predicate stands for.
enum Reading {
    /// A value that depends on no object.
    case constant(Constant)
    /// An attribute, or a value computed from attributes. A condition is 0 or 1.
    case value(QueryExpression)
    /// An attribute that is stored as text in a form of its own: only whether it is nil can be told.
    case composite(QueryExpression)
    /// An object.
    case object(ObjectReference)
    /// The members of a to-many relationship.
    case members(Members)
    /// A range whose bounds depend on an object.
    case range(QueryRange)
}

/// A captured value, or one computed from captured values.
struct Constant {
    /// The value itself.
    let value: Any
    /// The value as a store knows it; nil for collections, ranges, models and whatever else is no attribute's value.
    let literal: Value?

    init<T>(_ value: T) {
        self.value = value
        literal = queryLiteral(of: value)
    }
}

/// The object that a variable stands for, or one at the end of to-one relationships that start there.
struct ObjectReference {
    var variable: Int
    var path: [Property] = []
    /// The entity that the object is known to be of.
    var entity: Entity
    /// What has to hold, or the object counts as nil though there may be one: that it is of the class that it was cast to,
    /// or that it was reached from such a one.
    var requirement: QueryExpression?

    init(variable: Int, entity: Entity) {
        self.variable = variable
        self.entity = entity
    }

    /// The object's key, without regard to the requirement.
    var key: QueryExpression { path.isEmpty ? .variable(variable) : .path(from: variable, path) }

    /// Whether there is an object; nil where there always is one.
    var presence: QueryExpression? {
        if let requirement { return requirement }
        return path.isEmpty ? nil : .comparison(.notEqual, key, .literal(.null))
    }
}

/// The members of a to-many relationship that fulfil conditions.
struct Members {
    var variable: Int
    var path: [Property]
    /// The entity of the members.
    var entity: Entity
    /// Conditions on a member, which is variable `number` in them.
    var filters: [QueryExpression] = []
    /// The number of the variable that a closure over the members binds.
    var number: Int

    /// Whether there is an object that has the relationship; nil where there always is one.
    var presence: QueryExpression? {
        path.count == 1 ? nil : .comparison(.notEqual, .path(from: variable, path.dropLast()), .literal(.null))
    }
}

/// The bounds of a range; a nil one is open.
struct QueryRange {
    var lower: QueryExpression?
    var upper: QueryExpression?
    var includesUpper: Bool
}

extension Reading {
    /// The reading as a value to compare or to compute with.
    ///
    /// - Parameter part: What the value is needed for, to name it in an error.
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

    /// The reading as a condition.
    func condition() throws -> QueryExpression {
        try expression(for: "a condition").asCondition
    }

    /// Whether this is a constant nil.
    var isNil: Bool {
        if case .constant(let constant) = self, case .null? = constant.literal { true } else { false }
    }

    var isConstant: Bool {
        if case .constant = self { true } else { false }
    }
}
