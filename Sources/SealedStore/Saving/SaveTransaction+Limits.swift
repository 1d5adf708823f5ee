import EncryptedSQLite
import ObjectGraph

extension SaveTransaction {
    /// Counts the members of the changed relationships with limits, which another writer may have changed as well.
    ///
    /// - Throws: `SaveConflict.memberCounts` with the numbers outside the limits.
    /// - Complexity: a statement for each relationship of an object.
    func requireMemberCounts(of request: SaveChangesRequest) throws {
        var exceeded: [MemberCount] = []
        for limited in request.limitedRelationships {
            guard let rows = store.schema.memberRows(of: limited.relationship) else { continue }
            let sql = "SELECT count(*) FROM \(rows.table) WHERE \(rows.owner) = ?"
            let count = try connection.withStatement(sql) { query in
                try query.bind(limited.owner, at: 1)
                return try query.step() ? Int(query.integer(at: 0)) : 0
            }
            guard limited.relationship.problem(ofMemberCount: count) != nil else { continue }
            let owner = id(limited.relationship.source, limited.owner)
            exceeded.append(MemberCount(owner: owner, relationship: limited.relationship, count: count))
        }
        guard exceeded.isEmpty else { throw SaveConflict.memberCounts(exceeded) }
    }
}
