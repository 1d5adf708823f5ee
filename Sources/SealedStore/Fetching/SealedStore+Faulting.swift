import EncryptedSQLite
import ObjectGraph

extension SealedStore {
    /// The rows with keys, in any order.
    func rows(
        with keys: [Int64],
        of entity: Entity,
        in generation: SnapshotGeneration?,
        readFailures: ReadFailures?
    ) throws -> RowBatch {
        let layout = try layout.value
        // By the root, since an identifier may name a superentity or a subentity of the object's own.
        let root = layout.schema.model.root(of: entity)
        let selection = layout.statements.selection(of: root)
        let table = layout.schema.table(of: root).name
        return try layout.database.read { connection in
            var rows = layout.rowBuilder(for: selection, in: generation, readFailures: readFailures)
            for group in KeyGroup.groups(of: keys) {
                let condition = group.condition(#"t0."_id""#)
                let sql = "SELECT \(selection.columns) FROM \(table) AS t0 WHERE \(condition)"
                try connection.withStatement(sql) { query in
                    try group.bind(to: query)
                    try selection.readAll(query, into: &rows)
                }
            }
            return rows.finish()
        }
    }

    /// The members of a to-many relationship of several owners: in the relationship's order or by primary key.
    func members(
        of relationship: Relationship,
        owners: [Int64],
        in generation: SnapshotGeneration?,
        readFailures: ReadFailures?
    ) throws -> RelationshipRows {
        let layout = try layout.value
        let selection = layout.statements.selection(of: relationship.destination)
        let (source, ownerColumn, position) = try memberSource(of: relationship, layout)
        var result = RelationshipRows()
        try layout.database.read { connection in
            var rows = layout.rowBuilder(for: selection, in: generation, readFailures: readFailures)
            // Only a member of a many-to-many relationship can come twice.
            let isShared = layout.schema.joinTables[relationship.index] != nil
            var seen: Set<Int64> = []
            for group in KeyGroup.groups(of: owners) {
                // Members without a position were added by a batch request: they come last.
                let order = [ownerColumn, position.map { "\($0) NULLS LAST" }, #"t0."_id""#]
                    .compactMap(\.self).joined(separator: ", ")
                let sql = """
                    SELECT \(selection.columns), \(ownerColumn) FROM \(source) \
                    WHERE \(group.condition(ownerColumn)) ORDER BY \(order)
                    """
                try connection.withStatement(sql) { query in
                    try group.bind(to: query)
                    try selection.readAll(query, into: &rows) { query in
                        let key = query.integer(at: 0)
                        result.append(member: key, of: query.integer(at: selection.columnCount))
                        return !isShared || seen.insert(key).inserted
                    }
                }
            }
            result.rows = rows.finish()
        }
        return result
    }

    /// Where the members of a relationship stand: the tables, the column with the owner's key, and that of the order.
    private func memberSource(
        of relationship: Relationship,
        _ layout: Layout
    ) throws -> (tables: String, owner: String, position: String?) {
        let table = layout.schema.table(of: relationship.destination)
        if let pairs = layout.schema.joinTables[relationship.index] {
            let tables = #"\#(pairs.name) AS p JOIN \#(table.name) AS t0 ON t0."_id" = p.\#(pairs.member)"#
            return (tables, "p.\(pairs.owner)", pairs.position.map { "p.\($0)" })
        }
        guard let inverse = relationship.inverse else {
            throw SealedStoreError.unsupportedQuery("the relationship '\(relationship.name)'")
        }
        let column = layout.schema.keyColumn(of: inverse).name
        return ("\(table.name) AS t0", "t0.\(column)", table.positionColumns[relationship].map { "t0.\($0)" })
    }
}

/// Keys that one statement is asked about. There are statements for few different numbers of keys, so that they stay in
/// the cache; the last key is repeated where there are fewer. Keys that follow each other are a range, and very many others
/// are one parameter, as a list.
private struct KeyGroup {
    private static let sizes = [1, 16, 128, 512]
    /// Beyond this number, taking a list apart costs less than further statements.
    private static let listThreshold = 1024
    /// The number of neighbouring keys from which on they are a range.
    private static let smallestRange = 64

    private let keys: ArraySlice<Int64>
    private let form: Form

    private enum Form {
        /// As many parameters.
        case parameters(Int)
        case range
        case list
    }

    static func groups(of keys: [Int64]) -> [KeyGroup] {
        var groups: [KeyGroup] = []
        var scattered: [Int64] = []
        var start = 0
        while start < keys.count {
            var end = start + 1
            while end < keys.count, keys[end] &- keys[end - 1] == 1 { end += 1 }
            if end - start >= smallestRange {
                groups.append(KeyGroup(keys: keys[start..<end], form: .range))
            } else {
                scattered += keys[start..<end]
            }
            start = end
        }
        return groups + Self.groups(ofScattered: scattered)
    }

    private static func groups(ofScattered keys: [Int64]) -> [KeyGroup] {
        if keys.count > listThreshold { return [KeyGroup(keys: keys[...], form: .list)] }
        let largest = sizes.last!
        return stride(from: 0, to: keys.count, by: largest).map { start in
            let slice = keys[start..<min(start + largest, keys.count)]
            return KeyGroup(keys: slice, form: .parameters(sizes.first { $0 >= slice.count } ?? largest))
        }
    }

    /// The condition that a column holds one of the keys, in SQL.
    func condition(_ column: String) -> String {
        switch form {
        case .parameters(let count): "\(column) IN (\(SQL.parameters(count)))"
        case .range: "\(column) BETWEEN ? AND ?"
        case .list: "\(column) IN (SELECT value FROM json_each(?))"
        }
    }

    func bind(to statement: borrowing Statement) throws {
        switch form {
        case .list:
            try statement.bind(text: "[\(keys.lazy.map(String.init).joined(separator: ","))]", at: 1)
        case .range:
            try statement.bind(keys.first ?? 0, at: 1)
            try statement.bind(keys.last ?? 0, at: 2)
        case .parameters(let count):
            var index: Int32 = 1
            for key in keys {
                try statement.bind(key, at: index)
                index += 1
            }
            let last = keys.last ?? 0
            while index <= count {
                try statement.bind(last, at: index)
                index += 1
            }
        }
    }
}
