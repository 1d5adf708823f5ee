import ObjectGraph

/// Writes conditions and values as SQL. Constants become parameters, always.
///
/// A condition's SQL is 1 or 0, or NULL for false where the place allows it: under NOT, and where it is used as a value,
/// it does not.
struct QueryGenerator {
    private let schema: StoreSchema
    /// The values of the parameters, in the order of the question marks in the text.
    private(set) var parameters: [Value] = []
    /// What each variable of the query stands for.
    private var variables: [Source] = []
    private var aliasCount = 0
    /// Whether the place that is being written has groups.
    var allowsAggregates = false

    /// A table with the tables that to-one paths join to it.
    private struct Source {
        let entity: Entity
        let alias: String
        /// The joined tables by the path that leads to them.
        var joins: [[Property]: Join] = [:]
        /// The joins in the order in which they were made.
        var joinClauses: [String] = []
    }

    private struct Join {
        let alias: String
        let entity: Entity
    }

    init(_ schema: StoreSchema, root: Entity) {
        self.schema = schema
        variables = [Source(entity: root, alias: "t0")]
        aliasCount = 1
    }

    /// The table of the query's root and everything that was joined to it so far.
    var fromClause: String {
        "FROM \(schema.table(of: variables[0].entity).name) AS t0" + variables[0].joinClauses.joined()
    }

    // MARK: Conditions

    /// A condition's SQL.
    ///
    /// - Parameter mayBeNull: Whether NULL stands for false.
    /// - Throws: ``SealedStoreError/unsupportedQuery(_:)``.
    mutating func condition(_ expression: QueryExpression, mayBeNull: Bool) throws(SealedStoreError) -> String {
        switch expression {
        case .and(let conditions):
            if conditions.isEmpty { return "1" }
            return "(" + (try list(conditions, mayBeNull)).joined(separator: " AND ") + ")"
        case .or(let conditions):
            if conditions.isEmpty { return "0" }
            return "(" + (try list(conditions, mayBeNull)).joined(separator: " OR ") + ")"
        case .not(let condition):
            return "(NOT \(try self.condition(condition, mayBeNull: false)))"
        case .comparison(let comparison, let left, let right):
            return try self.comparison(comparison, left, right, mayBeNull)
        case .isMember(let element, let values):
            return try membership(of: element, in: values)
        case .isKind(let start, let path, let entity):
            return try kind(at: path, from: start, entity, mayBeNull)
        case .quantified(let quantifier, let start, let path, let variable, let condition):
            let holds = quantifier == .any ? condition : .not(condition)
            let members = try members(at: path, from: start, variable: variable, condition: holds)
            return "(\(quantifier == .any ? "" : "NOT ")EXISTS (SELECT 1 \(members)))"
        case .conditional(let test, let first, let second):
            let test = try condition(test, mayBeNull: true)
            let first = try condition(first, mayBeNull: mayBeNull)
            return "(CASE WHEN \(test) THEN \(first) ELSE \(try condition(second, mayBeNull: mayBeNull)) END)"
        case .literal(.integer(let integer)):
            return integer == 0 ? "0" : "1"
        case .literal, .variable, .path, .arithmetic, .coalesce, .function, .count, .aggregate:
            let value = try value(expression)
            return mayBeNull ? "(\(value))" : "(coalesce(\(value), 0) <> 0)"
        }
    }

    private mutating func list(
        _ conditions: [QueryExpression],
        _ mayBeNull: Bool
    ) throws(SealedStoreError) -> [String] {
        var result: [String] = []
        for condition in conditions { result.append(try self.condition(condition, mayBeNull: mayBeNull)) }
        return result
    }

    private mutating func comparison(
        _ comparison: QueryExpression.Comparison,
        _ left: QueryExpression,
        _ right: QueryExpression,
        _ mayBeNull: Bool
    ) throws(SealedStoreError) -> String {
        let leftText = try value(left)
        let rightText = try value(right)
        switch comparison {
        case .equal:
            // `=` lets SQLite know that a unique index gives one row.
            let isPlain = mayBeNull && (left.isNonNullLiteral || right.isNonNullLiteral)
            return "(\(leftText) \(isPlain ? "=" : "IS") \(rightText))"
        case .notEqual: return "(\(leftText) IS NOT \(rightText))"
        case .less: return Self.decided("\(leftText) < \(rightText)", mayBeNull)
        case .lessOrEqual: return Self.decided("\(leftText) <= \(rightText)", mayBeNull)
        case .greater: return Self.decided("\(leftText) > \(rightText)", mayBeNull)
        case .greaterOrEqual: return Self.decided("\(leftText) >= \(rightText)", mayBeNull)
        }
    }

    private static func decided(_ comparison: String, _ mayBeNull: Bool) -> String {
        mayBeNull ? "(\(comparison))" : "((\(comparison)) IS TRUE)"
    }

    /// Constants beyond this number do not become parameters of their own.
    private static let parameterLimit = 1000

    private mutating func membership(
        of element: QueryExpression,
        in values: [Value]
    ) throws(SealedStoreError) -> String {
        let text = try value(element)
        let constants = values.filter { !$0.isNull }
        let nullTest = constants.count < values.count ? " OR \(text) IS NULL" : ""
        // The element's own parameters come again with its text.
        if !nullTest.isEmpty, case .path = element {
        } else if !nullTest.isEmpty {
            throw .unsupportedQuery("nil in a list that a computed value is looked up in")
        }
        if constants.isEmpty { return nullTest.isEmpty ? "0" : "(\(text) IS NULL)" }
        if constants.count <= Self.parameterLimit {
            parameters += constants
            return "((\(text) IN (\(SQL.parameters(constants.count)))) IS TRUE\(nullTest))"
        }
        guard let list = JSONList(constants) else {
            throw .unsupportedQuery("a list of \(constants.count) values of this type")
        }
        parameters.append(.text(list.text))
        let looked = list.isHexadecimal ? "hex(\(text))" : text
        return "((\(looked) IN (SELECT value FROM json_each(?))) IS TRUE\(nullTest))"
    }

    private mutating func kind(
        at path: [Property],
        from start: Int,
        _ entity: Entity,
        _ mayBeNull: Bool
    ) throws(SealedStoreError) -> String {
        let object = try join(path[...], from: start)
        guard object.entity.rootIndex == entity.rootIndex else { return "0" }
        let table = schema.table(of: entity)
        guard table.hasEntityColumn else { return "(\(object.alias).\"_id\" IS NOT NULL)" }
        let codes = entity.family.compactMap { table.codes[$0] }.sorted().map(String.init)
        let test = "\(object.alias).\"_entity\" IN (\(codes.joined(separator: ", ")))"
        return path.isEmpty ? "(\(test))" : Self.decided(test, mayBeNull)
    }

    // MARK: Values

    /// A value's SQL.
    ///
    /// - Throws: ``SealedStoreError/unsupportedQuery(_:)``.
    mutating func value(_ expression: QueryExpression) throws(SealedStoreError) -> String {
        switch expression {
        case .literal(.null): return "NULL"
        case .literal(let value):
            parameters.append(value)
            return "?"
        case .variable(let variable): return "\(variables[variable].alias).\"_id\""
        case .path(let start, let path): return try column(at: path, from: start)
        case .arithmetic(let operation, let left, let right):
            let leftText = try value(left)
            return "(\(leftText) \(Self.symbol(of: operation)) \(try value(right)))"
        case .conditional(let test, let first, let second):
            let test = try condition(test, mayBeNull: true)
            let first = try value(first)
            return "(CASE WHEN \(test) THEN \(first) ELSE \(try value(second)) END)"
        case .coalesce(let expressions):
            if expressions.count == 1 { return try value(expressions[0]) }
            var texts: [String] = []
            for expression in expressions { texts.append(try value(expression)) }
            return "coalesce(\(texts.joined(separator: ", ")))"
        case .function(let function, let arguments): return try call(function, arguments)
        case .count(let start, let path, let variable, let condition):
            let members = try members(at: path, from: start, variable: variable, condition: condition)
            let count = "(SELECT count(*) \(members))"
            guard path.count > 1 else { return count }
            let owner = try column(at: Array(path.dropLast()), from: start)
            return "(CASE WHEN \(owner) IS NULL THEN NULL ELSE \(count) END)"
        case .and, .or, .not, .comparison, .isMember, .isKind, .quantified:
            return try condition(expression, mayBeNull: false)
        case .aggregate(let aggregate, let argument):
            guard allowsAggregates else { throw .unsupportedQuery("an aggregate outside a dictionary fetch") }
            return try call(aggregate, argument)
        }
    }

    private static func symbol(of operation: QueryExpression.Arithmetic) -> String {
        switch operation {
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        case .divide: "/"
        case .remainder: "%"
        }
    }

    private mutating func call(
        _ function: QueryExpression.Function,
        _ arguments: [QueryExpression]
    ) throws(SealedStoreError) -> String {
        switch (function, arguments.count) {
        case (.contains, 2):
            let text = try value(arguments[0])
            return "(instr(\(text), \(try value(arguments[1]))) > 0)"
        case (.startsWith, 2):
            // The second argument is written twice, and so are its parameters.
            let text = try value(arguments[0])
            let length = try value(arguments[1])
            return "(substr(\(text), 1, length(\(length))) = \(try value(arguments[1])))"
        case (.endsWith, 2):
            let text = try value(arguments[0])
            let isEmpty = try value(arguments[1])
            let tail = try value(arguments[0])
            let length = try value(arguments[1])
            return """
                (CASE WHEN \(text) IS NULL THEN NULL WHEN \(isEmpty) = '' THEN 1 \
                ELSE substr(\(tail), -length(\(length))) = \(try value(arguments[1])) END)
                """
        case (.negate, 1): return "(-\(try value(arguments[0])))"
        case (.minimum, 2...), (.maximum, 2...):
            var texts: [String] = []
            for argument in arguments { texts.append(try value(argument)) }
            return "\(function == .minimum ? "min" : "max")(\(texts.joined(separator: ", ")))"
        default:
            throw .unsupportedQuery("the function '\(function.rawValue)'")
        }
    }

    // MARK: Aggregates

    private mutating func call(
        _ aggregate: QueryExpression.Aggregate,
        _ argument: QueryExpression
    ) throws(SealedStoreError) -> String {
        if aggregate == .count, argument == .variable(0) { return "count(*)" }
        if argument.resultType == .uint64 {
            switch aggregate {
            case .sum, .average:
                // Integers from 2⁶³ on are kept as negative ones; `abs` fails for the smallest of those.
                let test = "\(try value(argument)) < 0"
                let sum = "CASE WHEN \(test) THEN abs(-9223372036854775807 - 1) ELSE \(try value(argument)) END"
                return "\(Self.name(of: aggregate))(\(sum))"
            case .minimum, .maximum:
                let isMinimum = aggregate == .minimum
                let test = "\(try value(argument)) \(isMinimum ? ">= 0" : "< 0")"
                let preferred = "CASE WHEN \(test) THEN \(try value(argument)) END"
                let name = Self.name(of: aggregate)
                return "coalesce(\(name)(\(preferred)), \(name)(\(try value(argument))))"
            case .count, .distinctCount: break
            }
        }
        let text = try value(argument)
        if argument.resultType == .decimal {
            switch aggregate {
            case .sum: return "\(DecimalSumFunction.name)(\(text))"
            case .average: return "\(DecimalAverageFunction.name)(\(text))"
            // Bytes that compare as the numbers do.
            case .minimum, .maximum, .count, .distinctCount: break
            }
        }
        return aggregate == .distinctCount ? "count(DISTINCT \(text))" : "\(Self.name(of: aggregate))(\(text))"
    }

    private static func name(of aggregate: QueryExpression.Aggregate) -> String {
        switch aggregate {
        case .count, .distinctCount: "count"
        case .sum: "sum"
        case .average: "avg"
        case .minimum: "min"
        case .maximum: "max"
        }
    }

    // MARK: Paths

    /// The column at the end of a path; a to-one relationship's column holds the key of its destination.
    private mutating func column(at path: [Property], from start: Int) throws(SealedStoreError) -> String {
        guard let last = path.last else { return "\(variables[start].alias).\"_id\"" }
        let end = try join(path.dropLast(), from: start)
        guard end.entity.rootIndex == rootIndex(of: last), let column = schema.table(of: end.entity).column(of: last)
        else {
            throw .unsupportedQuery("the property '\(last.name)' of entity '\(end.entity.name)'")
        }
        return "\(end.alias).\(column.name)"
    }

    private func rootIndex(of property: Property) -> Int? {
        switch property {
        case .attribute(let attribute): schema.model.entitiesByName[attribute.declaringEntityName]?.rootIndex
        case .relationship(let relationship): relationship.source.rootIndex
        }
    }

    /// Joins the tables along a path of to-one relationships.
    private mutating func join(
        _ path: ArraySlice<Property>,
        from start: Int
    ) throws(SealedStoreError) -> Join {
        guard let last = path.last else {
            return Join(alias: variables[start].alias, entity: variables[start].entity)
        }
        if let join = variables[start].joins[Array(path)] { return join }
        guard case .relationship(let relationship) = last, !relationship.isToMany else {
            throw .unsupportedQuery("a path through '\(last.name)', which is no to-one relationship")
        }
        let key = try column(at: Array(path), from: start)
        let alias = newAlias()
        let join = Join(alias: alias, entity: relationship.destination)
        let table = schema.table(of: relationship.destination).name
        variables[start].joinClauses.append(" LEFT JOIN \(table) AS \(alias) ON \(alias).\"_id\" = \(key)")
        variables[start].joins[Array(path)] = join
        return join
    }

    private mutating func newAlias() -> String {
        defer { aliasCount += 1 }
        return "t\(aliasCount)"
    }

    /// FROM and WHERE of a subquery over the members of a to-many relationship that fulfil a condition.
    private mutating func members(
        at path: [Property],
        from start: Int,
        variable: Int,
        condition: QueryExpression
    ) throws(SealedStoreError) -> String {
        guard case .relationship(let relationship)? = path.last, relationship.isToMany else {
            throw .unsupportedQuery("'\(path.last?.name ?? "")' as a collection")
        }
        precondition(variable == variables.count, "variables are numbered by their depth")
        let owner = try column(at: Array(path.dropLast()), from: start)
        let source = Source(entity: relationship.destination, alias: newAlias())
        let table = "\(schema.table(of: relationship.destination).name) AS \(source.alias)"
        let from: String
        let link: String
        if let joinTable = schema.joinTables[relationship.index] {
            let pairs = newAlias()
            from =
                "\(joinTable.name) AS \(pairs) JOIN \(table) ON \(source.alias).\"_id\" = \(pairs).\(joinTable.member)"
            link = "\(pairs).\(joinTable.owner) = \(owner)"
        } else if let inverse = relationship.inverse {
            from = table
            link = "\(source.alias).\(schema.keyColumn(of: inverse).name) = \(owner)"
        } else {
            throw .unsupportedQuery("the relationship '\(relationship.name)'")
        }
        variables.append(source)
        let condition = try self.condition(condition, mayBeNull: true)
        let joins = variables.removeLast().joinClauses.joined()
        return "FROM \(from)\(joins) WHERE \(link) AND \(condition)"
    }
}

extension QueryExpression {
    fileprivate var isNonNullLiteral: Bool {
        if case .literal(let value) = self { !value.isNull } else { false }
    }
}
