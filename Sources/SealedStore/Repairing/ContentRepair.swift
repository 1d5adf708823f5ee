import EncryptedSQLite
import ObjectGraph

/// Removes problems that ``ContentCheck`` finds, with one statement for each rule and property.
struct ContentRepair {
    private let connection: Connection
    private let schema: StoreSchema
    private let check: ContentCheck
    private var entities: [Entity] { check.entities }

    /// - Parameter entityNames: The names of the entities that the store holds; nil for all.
    init(_ connection: Connection, _ schema: StoreSchema, entityNames: Set<String>?) {
        self.connection = connection
        self.schema = schema
        check = ContentCheck(connection, schema, entityNames: entityNames)
    }

    // MARK: Derived data

    /// Gives rows without a version the first version.
    func repairVersions() throws -> [StoreProblem] {
        try entities.filter(\.isRoot).compactMap { root in
            try change(
                .invalidVersion,
                root,
                nil,
                #"""
                UPDATE \#(schema.table(of: root).name) SET "_version" = "_version" | 1 \#
                WHERE "_version" & \#(VersionWord.versionMask) = 0
                """#
            )
        }
    }

    /// Moves sequences behind the largest keys.
    func repairSequences() throws -> [StoreProblem] {
        try entities.filter(\.isRoot).compactMap { root in
            let table = schema.table(of: root).name
            return try change(
                .exhaustedSequence,
                root,
                nil,
                """
                INSERT INTO "_sequence" ("entity", "next") \
                SELECT ?1, coalesce(max("_id"), 0) + 1 FROM \(table) \
                HAVING coalesce(max("_id"), 0) < 9223372036854775807 \
                AND coalesce(max("_id"), 0) >= coalesce((SELECT "next" FROM "_sequence" WHERE "entity" = ?1), 0) \
                ON CONFLICT ("entity") DO UPDATE SET "next" = excluded."next"
                """,
                [.text(root.name)]
            )
        }
    }

    // MARK: References

    /// Deletes the rows whose required reference leads to a missing object.
    func deleteIncompleteRows() throws -> [StoreProblem] {
        let required = schema.model.relationships.filter {
            entities.contains($0.source) && $0.placement == .sourceKey && !$0.isOptional
        }
        var repaired: [StoreProblem] = []
        // Each deleted row can be the destination of further references.
        while true {
            let deleted = try required.compactMap(deleteIncompleteRows)
            if deleted.isEmpty { return repaired }
            repaired += deleted
        }
    }

    /// Removes references that violate the model. Required references stay.
    func repairReferences() throws -> [StoreProblem] {
        var repaired: [StoreProblem] = []
        for entity in entities { repaired += try removeStrayValues(of: entity) }
        let relationships = schema.model.relationships.filter { entities.contains($0.source) }
        for relationship in relationships where relationship.placement == .sourceKey && relationship.isOptional {
            if let problem = try cutDanglingKeys(relationship) { repaired.append(problem) }
        }
        repaired += try completeOneToOnes()
        for relationship in relationships where relationship.placement == .sourceKey && relationship.isOptional {
            if let problem = try cutMismatchedKeys(relationship) { repaired.append(problem) }
        }
        for relationship in relationships {
            switch relationship.placement {
            case .sourceKey: break
            case .destinationKey: repaired += try renumberMembers(relationship)
            case .joinTable: repaired += try repairPairs(relationship)
            }
        }
        for relationship in relationships { repaired += try alignSharedInverse(relationship) }
        return repaired
    }

    /// Makes the relationships that share an inverse agree with the references of their members. A member leaves owners
    /// to which its reference does not lead. A reference to an owner that does not have the member makes it a member of
    /// the owner's first relationship. If the reference of a member leads nowhere and the member has one owner, the
    /// reference is set to the owner.
    func alignSharedInverse(_ reference: Relationship) throws -> [StoreProblem] {
        guard let shared = SharedInverse(reference, schema), let (first, pairs) = shared.sharers.first else {
            return []
        }
        let owners = shared.sharers.map { _, pairs in
            #"SELECT p.\#(pairs.owner) AS owner FROM \#(pairs.name) AS p WHERE p.\#(pairs.member) = t0."_id""#
        }.joined(separator: " UNION ")
        var repaired: [StoreProblem?] = [
            try change(
                .inverseMismatch,
                reference.source,
                .relationship(reference),
                """
                UPDATE \(shared.table) AS t0 SET \(shared.column) = (\(owners)), \(VersionWord.increment(writing: [])) \
                WHERE t0.\(shared.column) IS NULL AND (SELECT count(*) FROM (\(owners))) = 1 \
                AND \(check.condition(on: "t0", reference.source))
                """
            )
        ]
        for (relationship, pairs) in shared.sharers {
            repaired.append(
                try change(
                    .inverseMismatch,
                    relationship.source,
                    .relationship(relationship),
                    "DELETE FROM \(pairs.name) AS t0 WHERE \(shared.isOfOtherOwner("t0", pairs))"
                )
            )
        }
        repaired.append(
            try change(
                .inverseMismatch,
                first.source,
                .relationship(first),
                """
                INSERT INTO \(pairs.name) (\(pairs.owner), \(pairs.member)) \
                SELECT t0.\(shared.column), t0."_id" FROM \(shared.table) AS t0 WHERE \(shared.lacksMember("t0"))
                """
            )
        )
        return repaired.compactMap(\.self)
    }

    /// Completes one-to-one relationships of which one side is nil: nothing contradicts the other side if it is the
    /// only reference to the object.
    func completeOneToOnes() throws -> [StoreProblem] {
        try schema.model.relationships.compactMap { relationship in
            guard entities.contains(relationship.source), relationship.placement == .sourceKey,
                let inverse = relationship.inverse, !inverse.isToMany
            else { return nil }
            let column = schema.keyColumn(of: inverse).name
            let sources = """
                FROM \(schema.table(of: relationship.source).name) AS s \
                WHERE s.\(schema.keyColumn(of: relationship).name) = t0."_id" \
                AND \(check.condition(on: "s", relationship.source))
                """
            return try change(
                .inverseMismatch,
                relationship.source,
                .relationship(relationship),
                """
                UPDATE \(schema.table(of: inverse.source).name) AS t0 \
                SET \(column) = (SELECT s."_id" \(sources)), \(VersionWord.increment(writing: [])) \
                WHERE t0.\(column) IS NULL AND (SELECT count(*) \(sources)) = 1 \
                AND \(check.condition(on: "t0", inverse.source))
                """
            )
        }
    }

    private func removeStrayValues(of entity: Entity) throws -> [StoreProblem] {
        let table = schema.table(of: entity)
        guard table.hasEntityColumn else { return [] }
        return try entity.properties.filter { $0.declaringEntityName == entity.name }.compactMap { property in
            guard let column = table.column(of: property)?.name else { return nil }
            return try change(
                .strayValue,
                entity,
                property,
                """
                UPDATE \(table.name) AS t0 SET \(column) = NULL \
                WHERE t0.\(column) IS NOT NULL AND NOT \(check.condition(on: "t0", entity))
                """
            )
        }
    }

    private func deleteIncompleteRows(_ relationship: Relationship) throws -> StoreProblem? {
        let column = schema.keyColumn(of: relationship).name
        let isOwn = check.condition(on: "t0", relationship.source)
        return try change(
            .danglingReference,
            relationship.source,
            .relationship(relationship),
            """
            DELETE FROM \(schema.table(of: relationship.source).name) AS t0 \
            WHERE t0.\(column) IS NOT NULL AND \(leadsNowhere(relationship)) AND \(isOwn)
            """
        )
    }

    private func leadsNowhere(_ relationship: Relationship) -> String {
        """
        NOT EXISTS (SELECT 1 FROM \(schema.table(of: relationship.destination).name) AS d \
        WHERE d."_id" = t0.\(schema.keyColumn(of: relationship).name) \
        AND \(check.condition(on: "d", relationship.destination)))
        """
    }

    private func cutDanglingKeys(_ relationship: Relationship) throws -> StoreProblem? {
        let column = schema.keyColumn(of: relationship).name
        return try change(
            .danglingReference,
            relationship.source,
            .relationship(relationship),
            """
            UPDATE \(schema.table(of: relationship.source).name) AS t0 SET \(cut(relationship)) \
            WHERE t0.\(column) IS NOT NULL AND \(leadsNowhere(relationship))
            """
        )
    }

    private func cutMismatchedKeys(_ relationship: Relationship) throws -> StoreProblem? {
        guard let inverse = relationship.inverse, !inverse.isToMany else { return nil }
        let column = schema.keyColumn(of: relationship).name
        return try change(
            .inverseMismatch,
            relationship.source,
            .relationship(relationship),
            """
            UPDATE \(schema.table(of: relationship.source).name) AS t0 SET \(cut(relationship)) \
            WHERE t0.\(column) IS NOT NULL \
            AND EXISTS (SELECT 1 FROM \(schema.table(of: relationship.destination).name) AS d \
            WHERE d."_id" = t0.\(column) AND d.\(schema.keyColumn(of: inverse).name) IS NOT t0."_id")
            """
        )
    }

    /// The assignments that remove a reference, with its position in the inverse, and count the version up.
    private func cut(_ relationship: Relationship) -> String {
        let table = schema.table(of: relationship.source)
        var assignments = ["\(schema.keyColumn(of: relationship).name) = NULL", VersionWord.increment(writing: [])]
        if let position = relationship.inverse.flatMap({ table.positionColumns[$0] }) {
            assignments.append("\(position) = NULL")
        }
        return assignments.joined(separator: ", ")
    }

    // MARK: Members

    private func repairPairs(_ relationship: Relationship) throws -> [StoreProblem] {
        guard let pairs = schema.joinTables[relationship.index] else { return [] }
        var repaired: [StoreProblem?] = []
        func delete(_ kind: StoreProblem.Kind, unless exists: String) throws {
            repaired.append(
                try change(
                    kind,
                    relationship.source,
                    .relationship(relationship),
                    "DELETE FROM \(pairs.name) AS t0 WHERE NOT EXISTS (SELECT 1 FROM \(exists))"
                )
            )
        }
        func table(_ entity: Entity, _ column: String) -> String {
            """
            \(schema.table(of: entity).name) AS d WHERE d."_id" = t0.\(column) AND \(check.condition(on: "d", entity))
            """
        }
        if relationship.placement == .joinTable(isCanonical: true) {
            try delete(.danglingOwner, unless: table(relationship.source, pairs.owner))
            try delete(.danglingReference, unless: table(relationship.destination, pairs.member))
        }
        if relationship.inverse === relationship {
            try delete(
                .inverseMismatch,
                unless: """
                    \(pairs.name) AS d WHERE d.\(pairs.owner) = t0.\(pairs.member) AND d.\(pairs.member) = t0.\(pairs.owner)
                    """
            )
        }
        if let position = pairs.position {
            repaired.append(
                try renumber(relationship, pairs.name, [pairs.owner, pairs.member], owner: pairs.owner, position)
            )
        }
        return repaired.compactMap(\.self)
    }

    /// Gives the members of ordered relationships, whose positions are in their own rows, different positions.
    func renumberMembers() throws {
        for relationship in schema.model.relationships where relationship.placement == .destinationKey {
            _ = try renumberMembers(relationship)
        }
    }

    private func renumberMembers(_ relationship: Relationship) throws -> [StoreProblem] {
        let table = schema.table(of: relationship.destination)
        guard let inverse = relationship.inverse, let position = table.positionColumns[relationship] else { return [] }
        let owner = schema.keyColumn(of: inverse).name
        return try renumber(relationship, table.name, [#""_id""#], owner: owner, position).map { [$0] } ?? []
    }

    /// Gives the members of each owner with an invalid order consecutive positions, in the order of the old positions.
    private func renumber(
        _ relationship: Relationship,
        _ table: String,
        _ keys: [String],
        owner: String,
        _ position: String
    ) throws -> StoreProblem? {
        let columns = keys.enumerated().map { "\($1) AS key\($0)" }.joined(separator: ", ")
        let isSame = keys.enumerated().map { "t0.\($1) = n.key\($0)" }.joined(separator: " AND ")
        return try change(
            .invalidOrder,
            relationship.source,
            .relationship(relationship),
            """
            UPDATE \(table) AS t0 SET \(position) = n.number FROM (\
            SELECT \(columns), \
            row_number() OVER (PARTITION BY \(owner) ORDER BY \(position), \(keys.joined(separator: ", "))) - 1 AS number \
            FROM \(table) WHERE \(position) IS NOT NULL AND \(owner) IN (\
            SELECT \(owner) FROM \(table) WHERE \(owner) IS NOT NULL AND \(position) IS NOT NULL \
            GROUP BY \(owner), \(position) HAVING count(*) > 1 OR \(position) < 0)) AS n WHERE \(isSame)
            """
        )
    }

    // MARK: Statements

    /// Runs a statement.
    ///
    /// - Returns: The problem with the number of changed rows; nil if there are none.
    private func change(
        _ kind: StoreProblem.Kind,
        _ entity: Entity,
        _ property: Property?,
        _ sql: String,
        _ parameters: [Value] = []
    ) throws -> StoreProblem? {
        // The number of changes does not include the changes of triggers.
        let count = try connection.withStatement(sql) { statement in
            try statement.bind(parameters)
            try statement.run()
            return connection.changes
        }
        guard count > 0 else { return nil }
        return StoreProblem(kind, entity: entity.name, property: property?.name, count: count)
    }
}
