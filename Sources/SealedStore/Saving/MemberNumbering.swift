import EncryptedSQLite
import ObjectGraph

/// Writes the positions of the members of ordered relationships.
///
/// Another writer may have added or removed members since the context read them. So the positions are assigned in the
/// transaction of the save, to the members that the owner has then, and each is written only if the order needs it.
struct MemberNumbering {
    /// A member with its position in the store, nil if it has none.
    private typealias Member = (key: Int64, position: Int64?)

    /// Positions from here on are not the store's, and are replaced.
    private static let limit: Int64 = 1 << 62

    let connection: Connection
    let store: OpenStore

    /// Numbers the members of the changes' owners.
    ///
    /// - Returns: The changes, with the orders that the members now have.
    func number(_ changes: [SaveChangesRequest.MembershipChange]) throws -> [SaveChangesRequest.MembershipChange] {
        guard changes.contains(where: { $0.order != nil }) else { return changes }
        var statements: [Relationship: Statements] = [:]
        return try changes.map { change in
            guard let wanted = change.order,
                let used = statements[change.relationship] ?? Statements(change.relationship, store)
            else { return change }
            statements[change.relationship] = used
            var numbered = change
            numbered.order = try number(wanted, of: change.owner, used)
            return numbered
        }
    }

    private func number(_ wanted: [Int64], of owner: Int64, _ statements: Statements) throws -> [Int64] {
        let stored = try connection.withStatement(statements.selection) { query in
            try query.bind(owner, at: 1)
            var members: [Member] = []
            while try query.step() {
                let position = query.isNull(at: 1) ? nil : query.integer(at: 1)
                members.append((query.integer(at: 0), position.flatMap { (0..<Self.limit).contains($0) ? $0 : nil }))
            }
            return members
        }
        // A new member is mostly the last one.
        let known = Self.commonStart(wanted, stored)
        let rest = Self.order(wanted[known...], among: stored[known...])
        var last = known > 0 ? stored[known - 1].position ?? -1 : -1
        try connection.withStatement(statements.update) { statement in
            try statement.bind(owner, at: 2)
            for (index, member) in rest.enumerated() {
                let next = index + 1 < rest.count ? rest[index + 1].position : nil
                // A position before that of the next member would make it necessary to write all that follow.
                if let position = member.position, position > last, position < next ?? .max {
                    last = position
                    continue
                }
                last += 1
                guard member.position != last else { continue }
                try statement.bind(last, at: 1)
                try statement.bind(member.key, at: 3)
                try statement.run()
            }
        }
        return wanted.prefix(known) + rest.map(\.key)
    }

    /// The number of members at the beginning that are in the wanted order, with ascending positions.
    private static func commonStart(_ wanted: [Int64], _ stored: [Member]) -> Int {
        var (count, last): (Int, Int64) = (0, -1)
        while count < min(wanted.count, stored.count), wanted[count] == stored[count].key,
            let position = stored[count].position, position > last
        {
            last = position
            count += 1
        }
        return count
    }

    /// The stored members in the wanted order. Those that it does not contain follow the member that precedes them in
    /// the store.
    private static func order(_ wanted: ArraySlice<Int64>, among stored: ArraySlice<Member>) -> [Member] {
        let own = Set(wanted)
        var positions: [Int64: Int64?] = [:]
        var first: [Member] = []
        var followers: [Int64: [Member]] = [:]
        var preceding: Int64?
        for member in stored {
            if own.contains(member.key) {
                positions[member.key] = .some(member.position)
                preceding = member.key
            } else if let preceding {
                followers[preceding, default: []].append(member)
            } else {
                first.append(member)
            }
        }
        return wanted.reduce(into: first) { ordered, key in
            guard let position = positions.removeValue(forKey: key) else { return }
            ordered.append((key, position))
            ordered += followers[key] ?? []
        }
    }

    /// The statements for the members of one relationship.
    private struct Statements {
        /// Selects the keys and positions of an owner's members, in their order.
        let selection: SQLText
        /// Writes the position (1) of a member (3) of an owner (2).
        let update: SQLText

        /// - Returns: Nil if the relationship is not ordered.
        init?(_ relationship: Relationship, _ store: OpenStore) {
            let (table, owner, member, position): (String, String, String, String)
            if let pairs = store.schema.joinTables[relationship.index] {
                guard let column = pairs.position else { return nil }
                (table, owner, member, position) = (pairs.name, pairs.owner, pairs.member, column)
            } else {
                let members = store.schema.table(of: relationship.destination)
                guard let inverse = relationship.inverse, let column = members.positionColumns[relationship] else {
                    return nil
                }
                (table, owner, member, position) = (
                    members.name, store.schema.keyColumn(of: inverse).name, #""_id""#, column
                )
            }
            selection = SQLText(
                """
                SELECT \(member), \(position) FROM \(table) WHERE \(owner) = ? ORDER BY \(position) NULLS LAST, \(member)
                """
            )
            update = SQLText("UPDATE \(table) SET \(position) = ?1 WHERE \(member) = ?3 AND \(owner) = ?2")
        }
    }
}
