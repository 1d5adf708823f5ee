import EncryptedSQLite
import ObjectGraph

/// Writes the positions of the members of ordered relationships.
///
/// Another writer may have added or removed members since the context read them. So the positions are assigned in the
/// transaction of the save, to the members that the owner has then, and a position is written only if the order needs
/// it.
struct MemberNumbering {
    /// A member with its position in the store, nil if it has none.
    private typealias Member = (key: Int64, position: Int64?)

    /// The store writes smaller positions. Positions from here on come from another program, and are replaced.
    private static let limit: Int64 = 1 << 62

    let connection: Connection
    let store: OpenStore

    /// Numbers the members of the owners of changes.
    ///
    /// - Parameter request: The save, whose new objects have no members of other writers.
    /// - Returns: The changes, with the orders that the members now have.
    func number(
        _ changes: [SaveChangesRequest.MembershipChange],
        of request: SaveChangesRequest
    ) throws -> [SaveChangesRequest.MembershipChange] {
        guard changes.contains(where: { $0.order != nil }) else { return changes }
        var lists: [Relationship: Lists] = [:]
        return try changes.map { change in
            guard let wanted = change.order,
                let known = lists[change.relationship] ?? Lists(change.relationship, store, request)
            else { return change }
            lists[change.relationship] = known
            var numbered = change
            if known.newOwners.contains(where: { $0.contains(change.owner) }) {
                try write(wanted.map { ($0, nil) }, of: change.owner, after: -1, known)
            } else {
                numbered.order = try number(wanted, of: change.owner, known)
            }
            return numbered
        }
    }

    private func number(_ wanted: [Int64], of owner: Int64, _ lists: Lists) throws -> [Int64] {
        let stored = try connection.withStatement(lists.selection) { query in
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
        let last = known > 0 ? stored[known - 1].position : nil
        try write(rest, of: owner, after: last ?? -1, lists)
        return wanted.prefix(known) + rest.map(\.key)
    }

    /// Gives members ascending positions, and writes the positions that members do not have yet.
    ///
    /// - Parameter last: The position of the member before the first one.
    private func write(_ members: [Member], of owner: Int64, after last: Int64, _ lists: Lists) throws {
        var last = last
        try connection.withStatement(lists.update) { statement in
            try statement.bind(owner, at: 2)
            for (index, member) in members.enumerated() {
                let next = index + 1 < members.count ? members[index + 1].position : nil
                // A position that is not before the position of the next member would make it necessary to write all
                // positions that follow.
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

    /// The stored members in the wanted order. A member that the wanted order does not contain follows the member that
    /// precedes it in the store.
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

    /// The members of one relationship in the store.
    private struct Lists {
        /// The keys of the owners that the save inserts.
        let newOwners: [Range<Int64>]
        /// Selects the keys and positions of an owner's members, in their order.
        let selection: SQLText
        /// Writes the position (1) of a member (3) of an owner (2).
        let update: SQLText

        /// - Returns: Nil if the relationship is not ordered.
        init?(_ relationship: Relationship, _ store: OpenStore, _ request: SaveChangesRequest) {
            guard let rows = store.schema.memberRows(of: relationship), let position = rows.position else { return nil }
            let (table, owner, member) = (rows.table, rows.owner, rows.member)
            let model = store.schema.model
            newOwners = request.insertedKeys(of: model.root(of: relationship.source), model)
            selection = SQLText(
                """
                SELECT \(member), \(position) FROM \(table) WHERE \(owner) = ? ORDER BY \(position) NULLS LAST, \(member)
                """
            )
            update = SQLText("UPDATE \(table) SET \(position) = ?1 WHERE \(member) = ?3 AND \(owner) = ?2")
        }
    }
}
