import EncryptedSQLite
import ObjectGraph

extension SaveTransaction {
    /// Writes a change of a relationship that no row contains.
    func apply(_ change: SaveChangesRequest.MembershipChange) throws {
        if let pairs = store.schema.joinTables[change.relationship.index] {
            // Of a relationship that is its own inverse, both pairs: another writer may have changed one of them since
            // the context read it.
            for statements in pairs.pairStatements {
                try run(statements.deletion, change.owner, change.removed)
                try run(statements.insertion, change.owner, change.added)
            }
            if let position = pairs.position, let order = change.order {
                try number(
                    order,
                    with:
                        "UPDATE \(pairs.name) SET \(position) = ?1 WHERE \(pairs.owner) = ?2 AND \(pairs.member) = ?3",
                    owner: change.owner
                )
            }
        } else if let order = change.order, let inverse = change.relationship.inverse,
            let position = store.schema.table(of: change.relationship.destination).positionColumns[change.relationship]
        {
            let table = store.schema.table(of: change.relationship.destination).name
            // Another writer may have moved a member to another owner.
            let owner = store.schema.keyColumn(of: inverse).name
            try number(
                order,
                with: "UPDATE \(table) SET \(position) = ?1 WHERE \"_id\" = ?3 AND \(owner) = ?2",
                owner: change.owner
            )
        }
    }

    private func run(_ sql: SQLText, _ owner: Int64, _ members: [Int64]) throws {
        guard !members.isEmpty else { return }
        try connection.withStatement(sql) { statement in
            try statement.bind(owner, at: 1)
            for member in members {
                try statement.bind(member, at: 2)
                try statement.run()
            }
        }
    }

    /// Writes the positions of all members.
    private func number(_ order: [Int64], with sql: String, owner: Int64) throws {
        try connection.withStatement(sql) { statement in
            try statement.bind(owner, at: 2)
            for (position, member) in order.enumerated() {
                try statement.bind(Int64(position), at: 1)
                try statement.bind(member, at: 3)
                try statement.run()
            }
        }
    }
}
