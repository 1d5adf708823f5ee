import ObjectGraph

extension QueryGenerator {
    // MARK: Paths

    /// The table of the rows that a variable represents.
    func source(of variable: Int) -> Source {
        guard case .object(let source) = variables[variable] else {
            preconditionFailure("the elements of a composite value are no objects")
        }
        return source
    }

    private mutating func change(_ variable: Int, _ body: (inout Source) -> Void) {
        var source = source(of: variable)
        body(&source)
        variables[variable] = .object(source)
    }

    /// The value at the end of a path; a to-one relationship's column holds the key of its destination.
    mutating func column(at path: [Property], from start: Int) throws(SealedStoreError) -> String {
        let stored = try storedColumn(at: path, from: start)
        return mayRefer(path) ? LargeValueReference.value(of: stored) : stored
    }

    /// Whether the column at the end of a path may hold references to large values.
    func mayRefer(_ path: [Property]) -> Bool {
        guard schema.conditions.hasLargeValues, case .attribute(let attribute)? = path.last else { return false }
        return attribute.type == .data
    }

    /// The column at the end of a path.
    mutating func storedColumn(at path: [Property], from start: Int) throws(SealedStoreError) -> String {
        guard let last = path.last else { return "\(source(of: start).alias).\"_id\"" }
        let end = try join(path.dropLast(), from: start)
        guard end.entity.rootIndex == rootPosition(of: last), let column = schema.table(of: end.entity).column(of: last)
        else {
            throw .unsupportedQuery("the property '\(last.name)' of entity '\(end.entity.name)'")
        }
        return "\(end.alias).\(column.name)"
    }

    private func rootPosition(of property: Property) -> Int? {
        switch property {
        case .attribute(let attribute): schema.model.entitiesByName[attribute.declaringEntityName]?.rootIndex
        case .relationship(let relationship): relationship.source.rootIndex
        }
    }

    /// Joins the tables along a path of to-one relationships.
    mutating func join(_ path: ArraySlice<Property>, from start: Int) throws(SealedStoreError) -> Join {
        let source = source(of: start)
        guard let last = path.last else { return Join(alias: source.alias, entity: source.entity) }
        if let join = source.joins[Array(path)] { return join }
        guard case .relationship(let relationship) = last, !relationship.isToMany else {
            throw .unsupportedQuery("a path through '\(last.name)', which is no to-one relationship")
        }
        let key = try column(at: Array(path), from: start)
        let alias = newAlias()
        let join = Join(alias: alias, entity: relationship.destination)
        let table = schema.table(of: relationship.destination).name
        change(start) { source in
            source.joinClauses.append(" LEFT JOIN \(table) AS \(alias) ON \(alias).\"_id\" = \(key)")
            source.joins[Array(path)] = join
        }
        return join
    }

    // MARK: Collections

    /// A SELECT, in parentheses, over the members of a collection for which a condition holds.
    mutating func select(
        from source: CollectionSource,
        variable: Int,
        where condition: QueryExpression,
        column: (inout QueryGenerator) throws(SealedStoreError) -> String
    ) throws(SealedStoreError) -> String {
        guard variable == variables.count else {
            throw .unsupportedQuery("a variable that is not numbered by its depth")
        }
        // The parameters must be in the order of the text, in which the column comes first.
        let outer = parameters
        parameters = []
        let table = try self.table(of: source)
        let tableParameters = parameters
        variables.append(table.variable)
        parameters = []
        let column = try column(&self)
        let columnParameters = parameters
        parameters = []
        let condition = try self.condition(condition, mayBeNull: true)
        parameters = outer + columnParameters + tableParameters + parameters
        var joins = ""
        if case .object(let source) = variables.removeLast() { joins = source.joinClauses.joined() }
        let conditions = [table.link, condition == "1" ? nil : condition].compactMap(\.self)
        let end = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
        return "(SELECT \(column) FROM \(table.text)\(joins)\(end))"
    }

    private struct Table {
        /// The tables of the FROM clause.
        let text: String
        /// The condition that a row belongs to the collection.
        let link: String?
        let variable: Variable
    }

    private mutating func table(of source: CollectionSource) throws(SealedStoreError) -> Table {
        switch source {
        case .members(let start, let path): return try table(ofMembersAt: path, from: start)
        case .elements(let whole, let type):
            let alias = newAlias()
            let elements = "\(QueryFunctions.elementsName)(\(try value(whole)), '\(type.rawValue)')"
            let element = ElementList.element("\(alias).value", of: type.storage)
            return Table(text: "json_each(\(elements)) AS \(alias)", link: nil, variable: .element(element))
        }
    }

    private mutating func table(ofMembersAt path: [Property], from start: Int) throws(SealedStoreError) -> Table {
        guard case .relationship(let relationship)? = path.last, relationship.isToMany else {
            throw .unsupportedQuery("'\(path.last?.name ?? "")' as a collection")
        }
        let owner = try column(at: Array(path.dropLast()), from: start)
        let source = Source(entity: relationship.destination, alias: newAlias())
        let table = "\(schema.table(of: relationship.destination).name) AS \(source.alias)"
        if let joinTable = schema.joinTables[relationship.index] {
            let pairs = newAlias()
            let id = "\(source.alias).\"_id\""
            return Table(
                text: "\(joinTable.name) AS \(pairs) JOIN \(table) ON \(id) = \(pairs).\(joinTable.member)",
                link: "\(pairs).\(joinTable.owner) = \(owner)",
                variable: .object(source)
            )
        }
        guard let inverse = relationship.inverse else {
            throw .unsupportedQuery("the relationship '\(relationship.name)'")
        }
        let link = "\(source.alias).\(schema.keyColumn(of: inverse).name) = \(owner)"
        return Table(text: table, link: link, variable: .object(source))
    }

    /// An aggregate of the values of members; null if there is no collection.
    mutating func aggregated(
        _ aggregate: QueryExpression.Aggregate,
        _ source: CollectionSource,
        _ variable: Int,
        _ value: QueryExpression,
        _ condition: QueryExpression
    ) throws(SealedStoreError) -> String {
        // Only a count needs a test of the owner: all other aggregates of an empty collection are null.
        var presence: String?
        if aggregate == .count || aggregate == .distinctCount {
            switch source {
            case .members(let start, let path) where path.count > 1:
                presence = try column(at: Array(path.dropLast()), from: start)
            case .members: break
            case .elements(let whole, _): presence = try self.value(whole)
            }
        }
        let isPlainCount = aggregate == .count && value == source.member(variable)
        let result = try select(from: source, variable: variable, where: condition) {
            (generator) throws(SealedStoreError) -> String in
            isPlainCount ? "count(*)" : try generator.call(aggregate, value)
        }
        return presence.map { "(CASE WHEN \($0) IS NULL THEN NULL ELSE \(result) END)" } ?? result
    }
}
