import EncryptedSQLite
import ObjectGraph

/// Finds content that violates the model.
///
/// One scan of each table counts the rows that violate each of its rules. Primary keys and unique indexes, which
/// `PRAGMA integrity_check` has compared with their tables, ensure that a pair of a many-to-many relationship exists
/// once, and that unique values are unique.
struct ContentCheck {
    /// A rule for the rows of a table.
    private struct Rule {
        let kind: StoreProblem.Kind
        let place: PropertyPlace
        /// The condition under which a row violates the rule. The alias of the row is `t0`.
        let violation: String
    }

    /// The largest number of rules in one statement. A statement has at most 2,000 result columns.
    private static let largestRuleCount = 500

    private let connection: Connection
    private let schema: StoreSchema
    /// The entities that the store holds.
    let entities: [Entity]
    /// The model of the program that numbers members; nil for the model of the schema.
    private let numbering: ManagedObjectModel?

    /// - Parameters:
    ///   - entityNames: The names of the entities that the store holds; nil for all.
    ///   - model: The model of the program, if it does not have all of the schema.
    init(
        _ connection: Connection,
        _ schema: StoreSchema,
        entityNames: Set<String>?,
        numbered model: ManagedObjectModel? = nil
    ) {
        self.connection = connection
        self.schema = schema
        numbering = model === schema.model ? nil : model
        entities = schema.model.entities.filter { entityNames?.contains($0.name) ?? true }
    }

    /// All problems, in the order of the model's tables.
    ///
    /// - Parameter didCheck: Called with the part of the tables that was checked, up to 1.
    func problems(_ didCheck: (Double) throws -> Void = { _ in }) throws -> [StoreProblem] {
        var problems: [StoreProblem] = []
        let roots = entities.filter(\.isRoot)
        let hasLargeValues = try LargeValueTable.exists(on: connection)
        let relationships = schema.model.relationships.filter { entities.contains($0.source) }
        let count = Double(roots.count + relationships.count)
        for (position, root) in roots.enumerated() {
            try didCheck(Double(position) / count)
            var rules = rowRules(of: root) + root.family.flatMap(valueRules)
            if hasLargeValues { rules += root.family.flatMap(largeValueRules) }
            problems += try check(rules, table: schema.table(of: root).name)
        }
        for (position, relationship) in relationships.enumerated() {
            try didCheck(Double(roots.count + position) / count)
            switch relationship.placement {
            case .sourceKey: break
            case .destinationKey: problems += try checkOrder(relationship)
            case .joinTable: problems += try checkPairs(relationship)
            }
        }
        return problems
    }

    // MARK: Rules

    /// The rules for keys, versions and entities of a table's rows.
    private func rowRules(of root: Entity) -> [Rule] {
        let table = schema.table(of: root)
        let place = PropertyPlace(entity: root.name, property: nil)
        let next = #"(SELECT "next" FROM "_sequence" WHERE "entity" = \#(SQL.literal(root.name)))"#
        var rules = [
            Rule(kind: .invalidKey, place: place, violation: #"t0."_id" NOT BETWEEN 1 AND \#(Int64.max - 1)"#),
            Rule(
                kind: .invalidVersion,
                place: place,
                violation: #"t0."_version" & \#(VersionWord.versionMask) = 0"#
            ),
            Rule(kind: .exhaustedSequence, place: place, violation: #"t0."_id" >= coalesce(\#(next), 0)"#),
        ]
        if table.hasEntityColumn {
            let codes = codes(root.family.filter { !$0.isAbstract }, in: table)
            rules.append(Rule(kind: .unknownEntity, place: place, violation: #"t0."_entity" NOT IN (\#(codes))"#))
        }
        return rules
    }

    /// The rules for the properties that an entity itself declares.
    private func valueRules(of entity: Entity) -> [Rule] {
        let table = schema.table(of: entity)
        var rules: [Rule] = []
        for property in entity.properties where property.declaringEntityName == entity.name {
            guard let column = table.column(of: property)?.name else { continue }
            let place = place(of: property, in: entity)
            if table.hasEntityColumn {
                let isOwn = condition(on: "t0", entity)
                rules.append(
                    Rule(kind: .strayValue, place: place, violation: "t0.\(column) IS NOT NULL AND NOT \(isOwn)")
                )
            }
            switch property {
            case .attribute(let attribute):
                if attribute.type.restrictsStoredValues || attribute.type == .string {
                    rules.append(
                        Rule(
                            kind: .invalidValue,
                            place: place,
                            violation: "\(QueryFunctions.call(isRepresentable: "t0.\(column)", as: attribute.type)) = 0"
                        )
                    )
                }
                guard !attribute.isOptional else { continue }
                rules.append(
                    Rule(
                        kind: .missingValue,
                        place: place,
                        violation: "t0.\(column) IS NULL AND \(condition(on: "t0", entity))"
                    )
                )
            case .relationship(let relationship): rules += keyRules(relationship, column, place)
            }
        }
        return rules
    }

    /// The rules for the attributes that an entity itself declares, and whose values may be beside their rows.
    private func largeValueRules(of entity: Entity) -> [Rule] {
        let table = schema.table(of: entity)
        return entity.attributes.filter { $0.declaringEntityName == entity.name }.compactMap { attribute in
            let property = Property.attribute(attribute)
            guard let column = table.column(of: property), column.mayRefer else { return nil }
            return Rule(
                kind: .lostLargeValue,
                place: place(of: property, in: entity),
                violation: LargeValueReference.isLost("t0.\(column.name)")
            )
        }
    }

    /// The rules for a relationship that is a column: its destinations exist, and refer back if the inverse is a
    /// column, too.
    private func keyRules(_ relationship: Relationship, _ column: String, _ place: PropertyPlace) -> [Rule] {
        let isSet = "t0.\(column) IS NOT NULL"
        let destination = """
            FROM \(schema.table(of: relationship.destination).name) AS d WHERE d."_id" = t0.\(column)
            """
        let isValid = condition(on: "d", relationship.destination)
        var rules = [
            Rule(
                kind: .danglingReference,
                place: place,
                violation: "\(isSet) AND NOT EXISTS (SELECT 1 \(destination) AND \(isValid))"
            )
        ]
        if let inverse = relationship.inverse, !inverse.isToMany {
            let mismatch = #"d.\#(schema.keyColumn(of: inverse).name) IS NOT t0."_id""#
            rules.append(
                Rule(
                    kind: .inverseMismatch,
                    place: place,
                    violation: "\(isSet) AND EXISTS (SELECT 1 \(destination) AND \(mismatch))"
                )
            )
        }
        if let shared = SharedInverse(relationship, schema) {
            rules.append(
                Rule(
                    kind: .inverseMismatch,
                    place: place,
                    violation: "\(shared.lacksMember("t0")) AND EXISTS (SELECT 1 \(destination) AND \(isValid))"
                )
            )
        }
        return rules
    }

    /// Counts the rows of a table that violate rules, in one scan.
    private func check(_ rules: [Rule], table: String) throws -> [StoreProblem] {
        var violated: [Rule] = []
        for start in stride(from: 0, to: rules.count, by: Self.largestRuleCount) {
            let rules = rules[start..<min(start + Self.largestRuleCount, rules.count)]
            let counts = rules.map { "count(*) FILTER (WHERE \($0.violation))" }.joined(separator: ", ")
            try connection.withUncachedStatement("SELECT \(counts) FROM \(table) AS t0") { statement in
                guard try statement.step() else { return }
                for (column, rule) in rules.enumerated() where statement.integer(at: Int32(column)) > 0 {
                    violated.append(rule)
                }
            }
        }
        return try violated.compactMap { rule in
            try find(rule.kind, at: rule.place, "FROM \(table) AS t0 WHERE \(rule.violation)")
        }
    }

    // MARK: Members

    /// Checks the positions of members in the members' own rows.
    private func checkOrder(_ relationship: Relationship) throws -> [StoreProblem] {
        guard let inverse = relationship.inverse,
            let position = schema.table(of: relationship.destination).positionColumns[relationship],
            // A program without the relationship does not number the members, which get new positions when it returns.
            numbering.map({ $0.relationship(like: relationship) != nil }) ?? true
        else { return [] }
        return try checkOrder(
            of: relationship,
            in: schema.table(of: relationship.destination).name,
            owner: schema.keyColumn(of: inverse).name,
            position: position
        )
    }

    /// Checks a relationship that is a table of pairs, which it shares with its inverse.
    private func checkPairs(_ relationship: Relationship) throws -> [StoreProblem] {
        guard let pairs = schema.joinTables[relationship.index] else { return [] }
        let place = place(of: .relationship(relationship), in: relationship.source)
        var problems: [StoreProblem?] = []
        func check(_ kind: StoreProblem.Kind, _ column: String, _ entity: Entity) throws {
            problems.append(
                try find(
                    kind,
                    at: place,
                    key: "t0.\(pairs.owner)",
                    """
                    FROM \(pairs.name) AS t0 WHERE NOT EXISTS (SELECT 1 FROM \(schema.table(of: entity).name) AS d \
                    WHERE d."_id" = t0.\(column) AND \(condition(on: "d", entity)))
                    """
                )
            )
        }
        if relationship.placement == .joinTable(isCanonical: true) {
            try check(.danglingOwner, pairs.owner, relationship.source)
            try check(.danglingReference, pairs.member, relationship.destination)
        }
        if relationship.inverse === relationship {
            problems.append(
                try find(
                    .inverseMismatch,
                    at: place,
                    key: "t0.\(pairs.owner)",
                    """
                    FROM \(pairs.name) AS t0 WHERE NOT EXISTS (SELECT 1 FROM \(pairs.name) AS d \
                    WHERE d.\(pairs.owner) = t0.\(pairs.member) AND d.\(pairs.member) = t0.\(pairs.owner))
                    """
                )
            )
        }
        if let shared = relationship.sharedInverse.flatMap({ SharedInverse($0, schema) }) {
            problems.append(
                try find(
                    .inverseMismatch,
                    at: place,
                    key: "t0.\(pairs.owner)",
                    "FROM \(pairs.name) AS t0 WHERE \(shared.isOfOtherOwner("t0", pairs))"
                )
            )
        }
        var found = problems.compactMap(\.self)
        if let position = pairs.position {
            found += try checkOrder(of: relationship, in: pairs.name, owner: pairs.owner, position: position)
        }
        return found
    }

    /// Members without a position were added by a batch request; they come last.
    private func checkOrder(
        of relationship: Relationship,
        in table: String,
        owner: String,
        position: String
    ) throws -> [StoreProblem] {
        let place = place(of: .relationship(relationship), in: relationship.source)
        let shared = try find(
            .invalidOrder,
            at: place,
            key: "t0.owner",
            """
            FROM (SELECT \(owner) AS owner FROM \(table) WHERE \(owner) IS NOT NULL AND \(position) IS NOT NULL \
            GROUP BY \(owner), \(position) HAVING count(*) > 1 OR \(position) < 0) AS t0
            """
        )
        return shared.map { [$0] } ?? []
    }

    // MARK: Statements

    /// Counts the rows that violate a rule.
    ///
    /// - Parameters:
    ///   - key: The expression for the key of the object of a row.
    ///   - rows: The end of the statement, from FROM on.
    /// - Returns: nil if there are none.
    private func find(
        _ kind: StoreProblem.Kind,
        at place: PropertyPlace,
        key: String = #"t0."_id""#,
        _ rows: String
    ) throws -> StoreProblem? {
        try connection.withUncachedStatement("SELECT count(*), min(\(key)) \(rows)") { statement in
            guard try statement.step(), statement.integer(at: 0) > 0 else { return nil }
            return StoreProblem(
                kind,
                entity: place.entity,
                property: place.property,
                count: Int(statement.integer(at: 0)),
                firstKey: statement.integer(at: 1)
            )
        }
    }

    private func place(of property: Property, in entity: Entity) -> PropertyPlace {
        PropertyPlace(entity: entity.name, property: property.name)
    }

    /// The condition that rows are of an entity or its subentities.
    func condition(on alias: String, _ entity: Entity) -> String {
        let table = schema.table(of: entity)
        guard table.hasEntityColumn else { return "1" }
        return "\(alias).\"_entity\" IN (\(codes(entity.family, in: table)))"
    }

    private func codes(_ entities: [Entity], in table: EntityTable) -> String {
        entities.compactMap { table.codes[$0] }.sorted().map(String.init).joined(separator: ", ")
    }
}

/// An entity, and one of its properties or the properties of an index.
struct PropertyPlace: Hashable, Sendable {
    let entity: String
    /// The name; nil for whole rows.
    let property: String?

    var description: String { property.map { "\(entity).\($0)" } ?? entity }
}
