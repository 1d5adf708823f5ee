import EncryptedSQLite
package import ObjectGraph

extension SealedStore {
    /// Calls `body` with one state of the store. Other connections may write.
    ///
    /// As long as `body` runs, the write-ahead log cannot be reset.
    package func exporting<R>(_ body: (ExportTransaction) throws -> R) throws -> R {
        try opened.database.read { try body(ExportTransaction($0, opened)) }
    }
}

/// Reads the rows and relationships of one state of a store.
package struct ExportTransaction {
    private let connection: Connection
    private let store: OpenStore

    init(_ connection: Connection, _ store: OpenStore) {
        self.connection = connection
        self.store = store
    }

    /// The entities that the store holds.
    package var entities: [Entity] {
        store.model.entities.filter { store.description.entityNames?.contains($0.name) ?? true }
    }

    /// The number of objects of a root entity and its descendants.
    package func count(of root: Entity) throws -> Int {
        try connection.withStatement("SELECT count(*) FROM \(store.schema.table(of: root).name)") { query in
            try query.step() ? Int(query.integer(at: 0)) : 0
        }
    }

    /// The next rows of an entity, without rows of subentities, in the order of their keys.
    ///
    /// - Parameters:
    ///   - key: The rows follow this key.
    ///   - limit: The largest number of rows.
    ///   - byteLimit: The number of bytes of texts and blobs from which no further row is added. Blobs with external
    ///     storage do not count: they are read one by one, when they are needed.
    package func rows(of entity: Entity, after key: Int64, limit: Int, byteLimit: Int) throws -> RowBatch {
        var request = FetchRequest(entity, predicate: .comparison(.greater, .variable(0), .literal(.integer(key))))
        request.includesSubentities = false
        request.limit = try max(1, rowCount(of: entity, after: key, limit: limit, byteLimit: byteLimit))
        return try store.fetch(request, in: nil, on: connection)
    }

    /// The number of rows until the limits are reached. SQLite knows the lengths of values without reading them.
    private func rowCount(of entity: Entity, after key: Int64, limit: Int, byteLimit: Int) throws -> Int {
        let table = store.schema.table(of: entity)
        let lengths = entity.attributes.compactMap { attribute -> String? in
            switch attribute.type.form {
            case .text, .url, .json: break
            case .bytes: if attribute.description.allowsExternalStorage { return nil }
            case .integer, .unsigned, .boolean, .float, .double, .decimal, .date, .uuid: return nil
            }
            return table.column(of: .attribute(attribute)).map { "coalesce(octet_length(\($0.name)), 0)" }
        }
        guard !lengths.isEmpty else { return limit }
        let isOfEntity = " AND \"_entity\" IN (\(table.codeList(of: [entity])))"
        let sql = """
            SELECT \(lengths.joined(separator: " + ")) FROM \(table.name) \
            WHERE "_id" > ?1\(table.hasEntityColumn ? isOfEntity : "") ORDER BY "_id" LIMIT ?2
            """
        return try connection.withStatement(sql) { query in
            try query.bind(key, at: 1)
            try query.bind(Int64(limit), at: 2)
            var (count, byteCount) = (0, 0)
            while byteCount < byteLimit, try query.step() {
                count += 1
                byteCount += Int(query.integer(at: 0))
            }
            return count
        }
    }

    /// Calls `body` with each pair of a to-many relationship whose owner is in a range of keys, in the order of the
    /// owners and of their members.
    package func forEachMember(
        of relationship: Relationship,
        owners: ClosedRange<Int64>,
        _ body: (_ owner: Int64, _ member: Int64) throws -> Void
    ) throws {
        let (table, owner, member, position): (String, String, String, String?)
        if let pairs = store.schema.joinTables[relationship.index] {
            (table, owner, member, position) = (pairs.name, pairs.owner, pairs.member, pairs.position)
        } else if let inverse = relationship.inverse {
            let members = store.schema.table(of: relationship.destination)
            (table, owner, member) = (members.name, store.schema.keyColumn(of: inverse).name, #""_id""#)
            position = members.positionColumns[relationship]
        } else {
            return
        }
        let order = [owner, position.map { "\($0) NULLS LAST" }, member].compactMap(\.self).joined(separator: ", ")
        let sql =
            "SELECT \(owner), \(member) FROM \(table) WHERE \(owner) BETWEEN ?1 AND ?2 ORDER BY \(order)"
        try connection.withStatement(sql) { query in
            try query.bind(owners.lowerBound, at: 1)
            try query.bind(owners.upperBound, at: 2)
            var walk = PairWalk(from: owners.lowerBound, hasPositions: position != nil)
            while try query.step() {
                let (owner, member) = (query.integer(at: 0), query.integer(at: 1))
                try walk.visit(owner, member, of: query)
                try body(owner, member)
            }
        }
    }
}
