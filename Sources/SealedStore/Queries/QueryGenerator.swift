import ObjectGraph

/// Generates the SQL of conditions and values. All constants become parameters.
///
/// A condition's SQL evaluates to 1 or 0, or to NULL for false if the context allows it. NOT and the use as a value do
/// not allow it.
struct QueryGenerator {
    let schema: StoreSchema
    /// The parameters, in the order of the question marks in the text.
    var parameters: [QueryParameter] = []
    /// The meaning of each variable of the query.
    var variables: [Variable] = []
    private var aliasCount = 0
    /// Whether the current clause has groups.
    var allowsAggregates = false

    /// The meaning of a variable.
    enum Variable {
        case object(Source)
        /// The SQL of an element of a composite value.
        case element(String)
    }

    /// A table with the tables that to-one paths join to it.
    struct Source {
        let entity: Entity
        let alias: String
        /// The joined tables by their path.
        var joins: [[Property]: Join] = [:]
        /// The joins in the order of their generation.
        var joinClauses: [String] = []
    }

    struct Join {
        let alias: String
        let entity: Entity
    }

    init(_ schema: StoreSchema, root: Entity) {
        self.schema = schema
        variables = [.object(Source(entity: root, alias: "t0"))]
        aliasCount = 1
    }

    mutating func newAlias() -> String {
        defer { aliasCount += 1 }
        return "t\(aliasCount)"
    }

    /// The table of the query's root and the tables that are joined to it so far.
    var fromClause: String { fromClause(searching: nil) }

    /// The tables of the query, for the rows that match a search.
    func fromClause(searching search: SearchSource?) -> String {
        let root = source(of: 0)
        let table = "\(schema.table(of: root.entity).name) AS t0"
        return "FROM \(search?.join(to: table) ?? table)" + root.joinClauses.joined()
    }

    /// The values of the parameters of a query that contains all its constants.
    var values: [Value] { parameters.map { $0.value(in: []) } }

    // MARK: Conditions

    /// A condition's SQL.
    ///
    /// - Parameter mayBeNull: Whether NULL is allowed for false.
    /// - Throws: ``SealedStoreError/unsupportedQuery(_:)``.
    mutating func condition(_ expression: QueryExpression, mayBeNull: Bool) throws(SealedStoreError) -> String {
        switch expression {
        case .and(let conditions):
            return try conjunction(conditions, mayBeNull)
        case .or(let conditions):
            return try disjunction(conditions, mayBeNull)
        case .not(let condition):
            return "(NOT \(try self.condition(condition, mayBeNull: false)))"
        case .comparison(let comparison, let left, let right):
            return try self.comparison(comparison, left, right, mayBeNull)
        case .isMember(let element, let values):
            return try membership(of: element, in: values, mayBeNull)
        case .isKind(let start, let path, let entity):
            return try kind(at: path, from: start, entity, mayBeNull)
        case .quantified(let quantifier, let source, let variable, let condition):
            let holds = quantifier == .any ? condition : .not(condition)
            let members = try select(from: source, variable: variable, where: holds) { _ in "1" }
            return "(\(quantifier == .any ? "" : "NOT ")EXISTS \(members))"
        case .conditional(let test, let first, let second):
            let test = try condition(test, mayBeNull: true)
            let first = try condition(first, mayBeNull: mayBeNull)
            return "(CASE WHEN \(test) THEN \(first) ELSE \(try condition(second, mayBeNull: mayBeNull)) END)"
        case .literal(.integer(let integer)):
            return integer == 0 ? "0" : "1"
        case .function(.startsWith, let arguments) where mayBeNull: return try prefixTest(arguments)
        case .function(.contains, let arguments) where mayBeNull: return try search(arguments)
        case .literal, .parameter, .variable, .element, .path, .component, .arithmetic, .coalesce, .function,
            .aggregated,
            .aggregate:
            let value = try value(expression)
            return mayBeNull ? "(\(value))" : "(coalesce(\(value), 0) <> 0)"
        }
    }

    /// SQLite may evaluate the operands of AND in any order. If an operand may fail, it and all operands before it are
    /// also the tests of a CASE, which SQLite evaluates in their order.
    private mutating func conjunction(
        _ conditions: [QueryExpression],
        _ mayBeNull: Bool
    ) throws(SealedStoreError) -> String {
        if conditions.isEmpty { return "1" }
        guard let last = conditions.indices.last(where: { $0 > 0 && conditions[$0].mayFail }) else {
            var texts: [String] = []
            for condition in conditions { texts.append(try self.condition(condition, mayBeNull: mayBeNull)) }
            return SQL.joined(texts, by: "AND")
        }
        // An index serves only a condition outside the CASE.
        var texts: [String] = []
        for condition in conditions where !condition.mayFail {
            texts.append(try self.condition(condition, mayBeNull: mayBeNull))
        }
        var tests = ""
        for condition in conditions[..<last] {
            tests += " WHEN \(try self.condition(condition, mayBeNull: true)) IS NOT TRUE THEN 0"
        }
        texts.append("(CASE\(tests) ELSE \(try condition(conditions[last], mayBeNull: mayBeNull)) END)")
        return SQL.joined(texts, by: "AND")
    }

    private mutating func disjunction(
        _ conditions: [QueryExpression],
        _ mayBeNull: Bool
    ) throws(SealedStoreError) -> String {
        if conditions.isEmpty { return "0" }
        var texts: [String] = []
        var rest = conditions[...]
        if let last = conditions.indices.last(where: { $0 > 0 && conditions[$0].mayFail }) {
            var tests = ""
            for condition in conditions[..<last] {
                tests += " WHEN \(try self.condition(condition, mayBeNull: true)) THEN 1"
            }
            texts.append("(CASE\(tests) ELSE \(try condition(conditions[last], mayBeNull: mayBeNull)) END)")
            rest = conditions[(last + 1)...]
        }
        for condition in rest { texts.append(try self.condition(condition, mayBeNull: mayBeNull)) }
        return SQL.joined(texts, by: "OR")
    }

    private mutating func comparison(
        _ comparison: QueryExpression.Comparison,
        _ left: QueryExpression,
        _ right: QueryExpression,
        _ mayBeNull: Bool
    ) throws(SealedStoreError) -> String {
        if comparison == .equal || comparison == .notEqual, right == .literal(.null),
            case .path(let start, let path) = left,
            mayRefer(path)
        {
            // The comparison with null need not read a large value.
            return "(\(try storedColumn(at: path, from: start)) IS\(comparison == .equal ? "" : " NOT") NULL)"
        }
        switch comparison {
        case .equal where Self.areBothNullable(left, right): return try equality(left, right)
        case .notEqual where Self.areBothNullable(left, right): return "(NOT \(try equality(left, right)))"
        default: break
        }
        let (leftText, rightText) = try compared(left, right)
        switch comparison {
        case .equal:
            // With `=`, SQLite knows that a unique index returns one row.
            let isPlain = mayBeNull && (left.isNonNullLiteral || right.isNonNullLiteral)
            return "(\(leftText) \(isPlain ? "=" : "IS") \(rightText))"
        case .notEqual: return "(\(leftText) IS NOT \(rightText))"
        case .less: return Self.decided("\(leftText) < \(rightText)", mayBeNull)
        case .lessOrEqual: return Self.decided("\(leftText) <= \(rightText)", mayBeNull)
        case .greater: return Self.decided("\(leftText) > \(rightText)", mayBeNull)
        case .greaterOrEqual: return Self.decided("\(leftText) >= \(rightText)", mayBeNull)
        }
    }

    /// Whether both sides can be NULL, and the NULL of at least one side can stand for NaN as well as for null.
    private static func areBothNullable(_ left: QueryExpression, _ right: QueryExpression) -> Bool {
        (left.mayBeNotANumber || right.mayBeNotANumber) && !left.isNonNullLiteral && !right.isNonNullLiteral
    }

    /// Whether two values are equal if SQL's NULL can stand for NaN, which equals nothing. The result is never NULL.
    private mutating func equality(
        _ left: QueryExpression,
        _ right: QueryExpression
    ) throws(SealedStoreError) -> String {
        let areNull = QueryExpression.conjunction([left.nullTest, right.nullTest])
        if left == .literal(.null) || right == .literal(.null) { return try condition(areNull, mayBeNull: false) }
        let (leftText, rightText) = (try value(left), try value(right))
        return "((\(leftText) = \(rightText)) IS TRUE OR \(try condition(areNull, mayBeNull: false)))"
    }

    private static func decided(_ comparison: String, _ mayBeNull: Bool) -> String {
        mayBeNull ? "(\(comparison))" : "((\(comparison)) IS TRUE)"
    }

    /// The largest number of constants that become separate parameters.
    private static let parameterLimit = 1000

    private mutating func membership(
        of element: QueryExpression,
        in values: [Value],
        _ mayBeNull: Bool
    ) throws(SealedStoreError) -> String {
        var constants = values.filter { !$0.isNull }
        if constants.isEmpty { return values.isEmpty ? "0" : try condition(element.nullTest, mayBeNull: false) }
        var text = try value(element)
        switch textForm(of: element) {
        case .none: break
        case .composed: constants = constants.map(\.composed)
        case .mixed: text = Self.collated(text)
        }
        let list: String
        if constants.count <= Self.parameterLimit {
            parameters += constants
            list = SQL.parameters(constants.count)
        } else {
            var selections: [String] = []
            for storage in AttributeType.Storage.allCases {
                let elements = constants.filter { $0.storage == storage }
                guard !elements.isEmpty else { continue }
                parameters.append(.text(ElementList.text(elements)))
                selections.append("SELECT \(ElementList.element("value", of: storage)) FROM json_each(?)")
            }
            list = selections.joined(separator: " UNION ALL ")
        }
        // An index does not serve a condition inside another condition.
        let isMember = Self.decided("\(text) IN (\(list))", mayBeNull)
        return constants.count == values.count
            ? isMember : "(\(isMember) OR \(try condition(element.nullTest, mayBeNull: false)))"
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
        let test = "\(object.alias).\"_entity\" IN (\(table.codeList(of: entity.family)))"
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
            parameters.append(.value(value))
            return "?"
        case .parameter(let number, _):
            parameters.append(.constant(number, isComposed: false))
            return "?"
        case _ where expression.isConstant: return try constant(expression)
        case .variable(let variable): return "\(source(of: variable).alias).\"_id\""
        case .element(let variable, _):
            guard case .element(let text) = variables[variable] else {
                throw .unsupportedQuery("an element of an object")
            }
            return text
        case .component(let keys, let whole, let type):
            let whole = try value(whole)
            parameters.append(.text(ComponentKeys.text(keys)))
            return "\(QueryFunctions.componentName)(\(whole), ?, '\(type.rawValue)')"
        case .path(let start, let path): return try column(at: path, from: start)
        case .arithmetic(let operation, let left, let right):
            return try calculation(operation, left, right)
        case .conditional(let test, let first, let second):
            let test = try condition(test, mayBeNull: true)
            let first = try value(first)
            return "(CASE WHEN \(test) THEN \(first) ELSE \(try value(second)) END)"
        case .coalesce(let expressions):
            if expressions.count == 1 { return try value(expressions[0]) }
            if let total = try total(expressions) { return total }
            if expressions[0].mayBeNotANumber {
                let isMissing = try condition(expressions[0].nullTest, mayBeNull: true)
                let other = try value(.coalesce(Array(expressions.dropFirst())))
                return "(CASE WHEN \(isMissing) THEN \(other) ELSE \(try value(expressions[0])) END)"
            }
            var texts: [String] = []
            for expression in expressions { texts.append(try value(expression)) }
            return "coalesce(\(texts.joined(separator: ", ")))"
        case .function(.contains, let arguments): return try search(arguments)
        case .function(let function, let arguments): return try call(function, arguments)
        case .aggregated(let aggregate, let source, let variable, let value, let condition):
            return try aggregated(aggregate, source, variable, value, condition)
        case .and, .or, .not, .comparison, .isMember, .isKind, .quantified:
            return try condition(expression, mayBeNull: false)
        case .aggregate(let aggregate, let argument):
            guard allowsAggregates else { throw .unsupportedQuery("an aggregate outside a dictionary fetch") }
            return try call(aggregate, argument)
        }
    }
}

extension Value {
    fileprivate var storage: AttributeType.Storage {
        switch self {
        case .integer, .null: .integer
        case .real: .real
        case .text: .text
        case .blob, .uuid: .blob
        }
    }
}

extension QueryExpression {
    fileprivate var isNonNullLiteral: Bool {
        switch self {
        case .literal(let value): !value.isNull
        case .parameter: true
        default: false
        }
    }
}
