import EncryptedSQLite
import ObjectGraph

extension OpenStore {
    /// Returns the rows with keys, in any order.
    func rows(
        with keys: [Int64],
        of entity: Entity,
        in generation: SnapshotGeneration?,
        readFailures: ReadFailures?
    ) throws -> RowBatch {
        // The rows are found by the root, since an identifier may name a superentity or a subentity of the object's
        // entity.
        let root = schema.model.root(of: entity)
        let selection = statements.selection(of: root)
        let table = schema.table(of: root).name
        return try database.read { connection in
            _ = try states.state(on: connection)
            var rows = rowBuilder(for: selection, in: generation, readFailures: readFailures)
            for group in KeyGroup.groups(of: keys, .reading) {
                let condition = group.condition(#"t0."_id""#)
                // SQLite looks up each key of a list once. A range is a walk in the order of the keys, so that the
                // order costs nothing.
                let isRange = group.form == .range
                let order = isRange ? #" ORDER BY t0."_id""# : ""
                let sql = "SELECT \(selection.columns) FROM \(table) AS t0 WHERE \(condition)\(order)"
                try connection.withStatement(sql) { query in
                    try group.bind(to: query)
                    try selection.readAll(
                        query,
                        into: &rows,
                        order: isRange ? group.order : .any,
                        largeValues(on: connection)
                    )
                }
            }
            return rows.finish()
        }
    }

    /// Returns the members of a to-many relationship of several owners, in the relationship's order or by primary key.
    func members(
        of relationship: Relationship,
        owners: [Int64],
        in generation: SnapshotGeneration?,
        readFailures: ReadFailures?
    ) throws -> RelationshipRows {
        let selection = statements.selection(of: relationship.destination)
        let (source, ownerColumn, position) = try memberSource(of: relationship)
        var result = RelationshipRows()
        try database.read { connection in
            _ = try states.state(on: connection)
            var rows = rowBuilder(for: selection, in: generation, readFailures: readFailures)
            // Only a member of a many-to-many relationship can have several owners.
            let isShared = schema.joinTables[relationship.index] != nil
            var seen: Set<Int64> = []
            for group in KeyGroup.groups(of: owners, .reading) {
                // Members without a position were added by a batch request: they come last.
                let order = [ownerColumn, position.map { "\($0) NULLS LAST" }, #"t0."_id""#]
                    .compactMap(\.self).joined(separator: ", ")
                let sql = """
                    SELECT \(selection.columns), \(ownerColumn) FROM \(source) \
                    WHERE \(group.condition(ownerColumn)) ORDER BY \(order)
                    """
                try connection.withStatement(sql) { query in
                    try group.bind(to: query)
                    var walk = PairWalk(from: group.keys.first ?? 0, hasPositions: position != nil)
                    try selection.readAll(query, into: &rows, order: .any, largeValues(on: connection)) { query in
                        let key = query.integer(at: 0)
                        let owner = query.integer(at: selection.columnCount)
                        try walk.visit(owner, key, of: query)
                        result.append(member: key, of: owner)
                        return !isShared || seen.insert(key).inserted
                    }
                }
            }
            result.rows = rows.finish()
        }
        return result
    }

    /// The tables of a relationship's members, the column of the owner's key, and the column of the position.
    func memberSource(
        of relationship: Relationship
    ) throws -> (tables: String, owner: String, position: String?) {
        let table = schema.table(of: relationship.destination)
        if let pairs = schema.joinTables[relationship.index] {
            let tables = #"\#(pairs.name) AS p JOIN \#(table.name) AS t0 ON t0."_id" = p.\#(pairs.member)"#
            return (tables, "p.\(pairs.owner)", pairs.position.map { "p.\($0)" })
        }
        guard let inverse = relationship.inverse else {
            throw SealedStoreError.unsupportedQuery("the relationship '\(relationship.name)'")
        }
        let column = schema.keyColumn(of: inverse).name
        return ("\(table.name) AS t0", "t0.\(column)", table.positionColumns[relationship].map { "t0.\($0)" })
    }
}
