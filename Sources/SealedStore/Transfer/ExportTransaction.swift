import EncryptedSQLite
package import ObjectGraph

extension SealedStore {
    /// Calls `body` with one state of the store, while others may write.
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

    /// The rows of an entity, without those of subentities unless it is asked for them, in the order of their keys.
    ///
    /// - Parameter key: The rows follow this key.
    package func rows(
        of entity: Entity,
        includesSubentities: Bool = true,
        after key: Int64,
        limit: Int
    ) throws -> RowBatch {
        var request = FetchRequest(entity, predicate: .comparison(.greater, .variable(0), .literal(.integer(key))))
        request.includesSubentities = includesSubentities
        request.limit = limit
        return try store.fetch(request, in: nil, on: connection)
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
            while try query.step() { try body(query.integer(at: 0), query.integer(at: 1)) }
        }
    }
}
