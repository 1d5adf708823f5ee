import EncryptedSQLite
import ObjectGraph

extension SaveTransaction {
    /// Writes a change of a relationship that no row contains.
    func apply(_ change: SaveChangesRequest.MembershipChange) throws {
        if let pairs = store.schema.joinTables[change.relationship.index] {
            var directions = [(owner: pairs.owner, member: pairs.member)]
            // Another writer may have changed the inverse since the context read it.
            if change.relationship.inverse === change.relationship { directions.append((pairs.member, pairs.owner)) }
            for (owner, member) in directions {
                try run(
                    "DELETE FROM \(pairs.name) WHERE \(owner) = ?1 AND \(member) = ?2",
                    change.owner,
                    change.removed
                )
                try run(
                    "INSERT OR IGNORE INTO \(pairs.name) (\(owner), \(member)) VALUES (?1, ?2)",
                    change.owner,
                    change.added
                )
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

    private func run(_ sql: String, _ owner: Int64, _ members: [Int64]) throws {
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
