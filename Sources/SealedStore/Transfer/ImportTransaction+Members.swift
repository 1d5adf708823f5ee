import EncryptedSQLite
package import ObjectGraph

extension ImportTransaction {
    /// The number of members that are read at once.
    private static let membersAtOnce: Int64 = 4096

    // MARK: Adding

    /// Adds a member to a to-many relationship. If the relationship already has the member, its row stays as it is,
    /// apart from the position.
    ///
    /// - Parameters:
    ///   - position: The position of an ordered relationship; nil for a relationship without order.
    ///   - replacesOwner: Whether a member of another owner is taken from that owner.
    /// - Returns: Whether the object is a member now. False if the relationship's inverse is to-one and leads to
    ///   another object, or if there is no such object.
    package func add(
        _ member: Int64,
        to relationship: Relationship,
        of owner: Int64,
        at position: Int64?,
        replacesOwner: Bool = false
    ) throws -> Bool {
        guard let columns = store.schema.memberRows(of: relationship) else { return false }
        if let pairs = store.schema.joinTables[relationship.index] {
            if try addPair(member, to: relationship, of: owner, pairs) {
                history?.noteMember(member, of: relationship, owner)
            }
        } else {
            guard try setOwner(owner, of: member, relationship, replacesOwner: replacesOwner) else { return false }
        }
        if let column = columns.position, let position {
            try run(
                """
                UPDATE \(columns.table) SET \(column) = ?3 \
                WHERE \(columns.owner) = ?1 AND \(columns.member) = ?2 AND \(column) IS NOT ?3
                """,
                [owner, member, position]
            )
            if connection.changes > 0 { history?.note(relationship, of: owner) }
        }
        return true
    }

    /// Returns whether the pair is new.
    private func addPair(
        _ member: Int64,
        to relationship: Relationship,
        of owner: Int64,
        _ pairs: JoinTable
    ) throws -> Bool {
        let sql = "INSERT OR IGNORE INTO \(pairs.name) (\(pairs.owner), \(pairs.member)) VALUES (?1, ?2)"
        try run(sql, [owner, member])
        let isNew = connection.changes > 0
        if relationship.inverse === relationship { try run(sql, [member, owner]) }
        return isNew
    }

    /// Makes the to-one inverse of a relationship lead from a member to an owner. Returns whether it does.
    private func setOwner(
        _ owner: Int64,
        of member: Int64,
        _ relationship: Relationship,
        replacesOwner: Bool
    ) throws -> Bool {
        guard let inverse = relationship.inverse else { return false }
        let table = store.schema.table(of: relationship.destination)
        let column = store.schema.keyColumn(of: inverse).name
        let current = try connection.withStatement("SELECT \(column) FROM \(table.name) WHERE \"_id\" = ?") { query in
            try query.bind(member, at: 1)
            return try query.step() ? (isFound: true, key: query.integer(at: 0)) : (isFound: false, key: 0)
        }
        guard current.isFound, current.key == 0 || current.key == owner || replacesOwner else { return false }
        guard current.key != owner else { return true }
        let version = VersionWord.increment(writing: [])
        try history?.keepOldValues([member], of: table.root)
        if current.key != 0 { history?.note(relationship, of: current.key) }
        try run("UPDATE \(table.name) SET \(column) = ?1, \(version) WHERE \"_id\" = ?2", [owner, member])
        history?.noteMember(member, of: relationship, owner)
        return true
    }

    // MARK: Removing

    /// Removes the members that a new list of an object's members lacks. The rows of the other members stay as they
    /// are.
    ///
    /// - Parameters:
    ///   - isListed: Whether the list has a member.
    ///   - isKept: Whether a member stays although the list lacks it. In an ordered relationship, it becomes the last
    ///     member.
    /// - Complexity: O(*n* log *n*) in the number of the owner's members.
    package func removeMembers(
        of relationship: Relationship,
        of owner: Int64,
        unless isListed: (_ member: Int64) throws -> Bool,
        isKept: (_ member: Int64) throws -> Bool
    ) throws {
        guard let columns = store.schema.memberRows(of: relationship) else { return }
        var last = Int64.min
        while true {
            let page = try members(of: owner, after: last, columns)
            guard let end = page.last else { return }
            last = end
            var removed: [Int64] = []
            for member in page where try !isListed(member) {
                if try isKept(member) {
                    try clearPosition(of: member, relationship, owner, columns)
                } else {
                    removed.append(member)
                }
            }
            if !removed.isEmpty { try remove(removed, from: relationship, of: owner) }
        }
    }

    /// The next members of an owner, in the order of their keys.
    private func members(of owner: Int64, after member: Int64, _ columns: MemberRows) throws -> [Int64] {
        let sql = """
            SELECT \(columns.member) FROM \(columns.table) WHERE \(columns.owner) = ?1 AND \(columns.member) > ?2 \
            ORDER BY \(columns.member) LIMIT ?3
            """
        return try connection.withStatement(sql) { query in
            try query.bind(owner, at: 1)
            try query.bind(member, at: 2)
            try query.bind(Self.membersAtOnce, at: 3)
            var keys: [Int64] = []
            var walk = KeyWalk(.ascending(after: member))
            while try query.step() {
                let key = query.integer(at: 0)
                try walk.visit(key, of: query)
                keys.append(key)
            }
            return keys
        }
    }

    /// Removes members.
    ///
    /// - Parameter members: The keys, ascending.
    private func remove(_ members: [Int64], from relationship: Relationship, of owner: Int64) throws {
        if let pairs = store.schema.joinTables[relationship.index] {
            history?.note(
                SaveChangesRequest.MembershipChange(
                    relationship: relationship,
                    owner: owner,
                    added: [],
                    removed: members,
                    order: nil
                )
            )
            let sql = "DELETE FROM \(pairs.name) WHERE \(pairs.owner) = ?1 AND \(pairs.member) = ?2"
            for member in members {
                try run(sql, [owner, member])
                if relationship.inverse === relationship { try run(sql, [member, owner]) }
            }
            return
        }
        guard let inverse = relationship.inverse else { return }
        let table = store.schema.table(of: relationship.destination)
        let version = VersionWord.increment(writing: [])
        let sql = #"UPDATE \#(table.name) SET \#(cut(inverse)), \#(version) WHERE "_id" = ?1"#
        try history?.keepOldValues(members, of: table.root)
        history?.note(relationship, of: owner)
        for member in members {
            history?.note(inverse, of: member)
            try run(sql, [member])
        }
    }

    // MARK: Positions

    private func clearPosition(
        of member: Int64,
        _ relationship: Relationship,
        _ owner: Int64,
        _ columns: MemberRows
    ) throws {
        guard let column = columns.position else { return }
        try run(
            """
            UPDATE \(columns.table) SET \(column) = NULL \
            WHERE \(columns.owner) = ?1 AND \(columns.member) = ?2 AND \(column) IS NOT NULL
            """,
            [owner, member]
        )
        if connection.changes > 0 { history?.note(relationship, of: owner) }
    }

    /// Clears the positions of members whose rows are about to be updated with other owners: the position among the
    /// members of the earlier owner can be the position of a member of the new owner.
    func clearPositions(ofChanged rows: RowBatch, _ updates: [SaveChangesRequest.Update]) throws {
        for (row, update) in zip(rows, updates) {
            let table = store.schema.tables[row.entityIndex]
            for reference in store.statements.memberships[row.entityIndex] where update.slots.contains(reference.slot) {
                guard let inverse = reference.inverse, let position = table.positionColumns[inverse] else { continue }
                let owner = store.schema.keyColumn(of: reference).name
                try run(
                    """
                    UPDATE \(table.name) SET \(position) = NULL \
                    WHERE "_id" = ?1 AND \(position) IS NOT NULL AND \(owner) IS NOT nullif(?2, 0)
                    """,
                    [row.key, row.integer(at: reference.slot)]
                )
            }
        }
    }
}
