import ObjectGraph

/// What a node of a predicate stands for.
enum Reading {
    /// A value that depends on no object.
    case constant(Constant)
    /// An attribute, or a value computed from attributes. A condition is 0 or 1.
    case value(QueryExpression)
    /// A value that is stored as JSON text, or a part of one that is not of a basic type.
    case composite(QueryExpression)
    /// An object.
    case object(ObjectReference)
    /// The members of a to-many relationship, or the elements of a composite value.
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

/// The members of a collection that fulfil conditions.
struct Members {
    /// What a member is.
    enum Member {
        case object(Entity)
        case value(AttributeType)
    }

    var source: CollectionSource
    var member: Member
    /// Conditions on a member, which is variable `number` in them.
    var filters: [QueryExpression] = []
    /// The number of the variable that a closure over the members binds.
    var number: Int

    /// Whether there is a collection; nil where there always is one.
    var presence: QueryExpression? { source.owner.map { .comparison(.notEqual, $0, .literal(.null)) } }

    /// A member, as a closure over them has it.
    var reading: Reading {
        switch member {
        case .object(let entity): .object(ObjectReference(variable: number, entity: entity))
        case .value(.composite): .composite(source.member(number))
        case .value: .value(source.member(number))
        }
    }

    /// How many there are; nil where there is no collection.
    var count: QueryExpression { .count(source, variable: number, condition: .conjunction(filters)) }
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

    /// The reading as that of a node that may depend on objects, though its value does not: Foundation must not be asked to
    /// evaluate it.
    var ofNode: Reading {
        if case .constant(let constant) = self, let literal = constant.literal {
            .value(.literal(literal))
        } else {
            self
        }
    }

    /// Whether this is a constant nil.
    var isNil: Bool {
        if case .constant(let constant) = self, case .null? = constant.literal { true } else { false }
    }

    var isConstant: Bool {
        if case .constant = self { true } else { false }
    }
}
