import EncryptedSQLite
import ObjectGraph

/// Finds content that violates the model, with one statement for each rule and property.
///
/// Primary keys and unique indexes, which `PRAGMA integrity_check` has compared with their tables, ensure that a pair
/// of a many-to-many relationship exists once, and that unique values are unique.
struct ContentCheck {
    private let connection: Connection
    private let schema: StoreSchema
    /// The entities that the store holds.
    let entities: [Entity]

    /// - Parameter entityNames: The names of the entities that the store holds; nil for all.
    init(_ connection: Connection, _ schema: StoreSchema, entityNames: Set<String>?) {
        self.connection = connection
        self.schema = schema
        entities = schema.model.entities.filter { entityNames?.contains($0.name) ?? true }
    }

    /// All problems, in the order of the model.
    ///
    /// - Parameter didCheck: Called with the part of the rules that was checked, up to 1.
    func problems(_ didCheck: (Double) throws -> Void = { _ in }) throws -> [StoreProblem] {
        var problems: [StoreProblem] = []
        let relationships = schema.model.relationships.filter { entities.contains($0.source) }
        let count = Double(2 * entities.count + relationships.count)
        for (position, entity) in entities.enumerated() {
            try didCheck(Double(position) / count)
            if entity.isRoot { problems += try checkRows(of: entity) }
        }
        for (position, entity) in entities.enumerated() {
            try didCheck(Double(entities.count + position) / count)
            problems += try checkValues(of: entity)
        }
        for (position, relationship) in relationships.enumerated() {
            try didCheck(Double(2 * entities.count + position) / count)
            switch relationship.placement {
            case .sourceKey: problems += try checkKeys(relationship)
            case .destinationKey: problems += try checkOrder(relationship)
            case .joinTable: problems += try checkPairs(relationship)
            }
        }
        return problems
    }

    // MARK: Rows

    /// The keys, versions and entities of a table's rows.
    private func checkRows(of root: Entity) throws -> [StoreProblem] {
        let table = schema.table(of: root)
        var problems = [
            try find(
                .invalidKey,
                at: PropertyPlace(entity: root.name, property: nil),
                #"FROM \#(table.name) AS t0 WHERE t0."_id" <= 0"#
            ),
            try find(
                .invalidVersion,
                at: PropertyPlace(entity: root.name, property: nil),
                #"FROM \#(table.name) AS t0 WHERE t0."_version" & \#(VersionWord.versionMask) = 0"#
            ),
            try find(
                .exhaustedSequence,
                at: PropertyPlace(entity: root.name, property: nil),
                """
                FROM \(table.name) AS t0 \
                WHERE t0."_id" >= coalesce((SELECT "next" FROM "_sequence" WHERE "entity" = ?), 0)
                """,
                [.text(root.name)]
            ),
        ]
        if table.hasEntityColumn {
            let codes = codes(root.family.filter { !$0.isAbstract }, in: table)
            problems.append(
                try find(
                    .unknownEntity,
                    at: PropertyPlace(entity: root.name, property: nil),
                    #"FROM \#(table.name) AS t0 WHERE t0."_entity" NOT IN (\#(codes))"#
                )
            )
        }
        return problems.compactMap(\.self)
    }

    /// Checks the properties that an entity itself declares: missing values, and values in rows of other entities.
    private func checkValues(of entity: Entity) throws -> [StoreProblem] {
        let table = schema.table(of: entity)
        var problems: [StoreProblem?] = []
        for property in entity.properties where property.declaringEntityName == entity.name {
            guard let column = table.column(of: property)?.name else { continue }
            let place = place(of: property, in: entity)
            let isOwn = condition(on: "t0", entity)
            if case .attribute(let attribute) = property, !attribute.isOptional {
                problems.append(
                    try find(
                        .missingValue,
                        at: place,
                        "FROM \(table.name) AS t0 WHERE t0.\(column) IS NULL AND \(isOwn)"
                    )
                )
            }
            problems.append(
                try find(
                    .strayValue,
                    at: place,
                    "FROM \(table.name) AS t0 WHERE t0.\(column) IS NOT NULL AND NOT \(isOwn)"
                )
            )
        }
        return problems.compactMap(\.self)
    }

    // MARK: Relationships

    /// Checks a relationship that is a column: its destinations exist, and refer back if the inverse is a column, too.
    private func checkKeys(_ relationship: Relationship) throws -> [StoreProblem] {
        let table = schema.table(of: relationship.source).name
        let column = schema.keyColumn(of: relationship).name
        let destination = schema.table(of: relationship.destination).name
        let place = place(of: .relationship(relationship), in: relationship.source)
        var problems = [
            try find(
                .danglingReference,
                at: place,
                """
                FROM \(table) AS t0 WHERE t0.\(column) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(destination) AS d \
                WHERE d."_id" = t0.\(column) AND \(condition(on: "d", relationship.destination)))
                """
            )
        ]
        if let inverse = relationship.inverse, !inverse.isToMany {
            problems.append(
                try find(
                    .inverseMismatch,
                    at: place,
                    """
                    FROM \(table) AS t0 JOIN \(destination) AS d ON d."_id" = t0.\(column) \
                    WHERE d.\(schema.keyColumn(of: inverse).name) IS NOT t0."_id"
                    """
                )
            )
        }
        return problems.compactMap(\.self)
    }

    /// Checks the positions of members in the members' own rows.
    private func checkOrder(_ relationship: Relationship) throws -> [StoreProblem] {
        guard let inverse = relationship.inverse,
            let position = schema.table(of: relationship.destination).positionColumns[relationship]
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
    ///   - parameters: The values of its parameters.
    /// - Returns: nil if there are none.
    private func find(
        _ kind: StoreProblem.Kind,
        at place: PropertyPlace,
        key: String = #"t0."_id""#,
        _ rows: String,
        _ parameters: [Value] = []
    ) throws -> StoreProblem? {
        try connection.withStatement("SELECT count(*), min(\(key)) \(rows)") { statement in
            try statement.bind(parameters)
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
