import EncryptedSQLite
import ObjectGraph

extension SaveTransaction {
    /// Makes the to-many relationships that share an inverse agree with the references of their members.
    ///
    /// A context changes both sides. Another writer may have moved a member since the context read it. The reference of
    /// the member, in the row whose version is compared, decides, unless it leads nowhere and the save has added the member to a relationship. The
    /// member leaves the relationships of other owners. If it is in no relationship of its owner, it is added to the
    /// first one.
    ///
    /// - Returns: the changes of the relationships that the request does not contain.
    /// - Complexity: a statement for each 512 changed members, and some for each member with a contradiction.
    mutating func alignSharedInverses(
        of request: SaveChangesRequest
    ) throws -> [SaveChangesRequest.MembershipChange] {
        guard store.statements.sharedInverses.contains(where: { !$0.isEmpty }) else { return [] }
        var changes: [SaveChangesRequest.MembershipChange] = []
        for (shared, members) in changedMembers(of: request) {
            for key in try contradictions(of: shared, among: members.written.union(members.added.keys)) {
                try align(key, shared, members.written.contains(key) ? nil : members.added[key], &changes)
            }
        }
        return changes
    }

    /// Makes all members agree with their owners, after an import that may have written one side only. A member of one
    /// owner whose reference leads nowhere gets the reference.
    ///
    /// - Returns: the changes of the relationships.
    /// - Complexity: a scan of the members and pairs, and some statements for each member with a contradiction.
    mutating func alignAllSharedInverses() throws -> [SaveChangesRequest.MembershipChange] {
        var changes: [SaveChangesRequest.MembershipChange] = []
        for shared in SharedInverse.all(store.schema) {
            let sql = SQLText(
                """
                SELECT t0."_id" FROM \(shared.table) AS t0 WHERE \(shared.lacksMember("t0")) OR \(shared.hasOtherOwner("t0"))
                """
            )
            for key in try connection.keys(sql, { _ in }) {
                let owners = try Set(shared.sharers.flatMap { try self.owners(of: key, $0.pairs) })
                try align(key, shared, owners.count == 1 ? owners.first : nil, &changes)
            }
        }
        return changes
    }

    /// The members whose side of a relationship a save has written.
    private struct Members {
        /// The keys of the members whose references are written.
        var written: Set<Int64> = []
        /// The owners to which members were added, or 0, by the keys of the members.
        var added: [Int64: Int64] = [:]
    }

    private func changedMembers(of request: SaveChangesRequest) -> [(shared: SharedInverse, members: Members)] {
        var members: [Relationship: Members] = [:]
        var found: [(shared: SharedInverse, members: Members)] = []
        let sharedInverses = store.statements.sharedInverses
        for row in request.inserted {
            for shared in sharedInverses[row.entityIndex] where row.integer(at: shared.reference.slot) != 0 {
                members[shared.reference, default: Members()].written.insert(row.key)
            }
        }
        for (row, update) in zip(request.updated, request.updates) {
            for shared in sharedInverses[row.entityIndex] where update.slots.contains(shared.reference.slot) {
                members[shared.reference, default: Members()].written.insert(row.key)
            }
        }
        for change in request.memberships {
            guard let reference = change.relationship.sharedInverse else { continue }
            for key in change.removed { members[reference, default: Members()].added[key, default: 0] += 0 }
            for key in change.added { members[reference, default: Members()].added[key] = change.owner }
        }
        for (reference, members) in members.sorted(by: { $0.key.index < $1.key.index }) {
            guard let shared = SharedInverse(reference, store.schema) else { continue }
            found.append((shared, members))
        }
        return found
    }

    /// The keys of the members with a contradiction.
    private func contradictions(of shared: SharedInverse, among keys: Set<Int64>) throws -> [Int64] {
        try KeyGroup.groups(of: keys.sorted(), .reading).flatMap { group in
            let sql = SQLText(
                """
                SELECT t0."_id" FROM \(shared.table) AS t0 WHERE \(group.condition(#"t0."_id""#)) \
                AND (\(shared.lacksMember("t0")) OR \(shared.hasOtherOwner("t0")))
                """
            )
            return try connection.keys(sql) { try group.bind(to: $0) }
        }
    }

    /// Aligns a member.
    ///
    /// - Parameter added: The owner to which the save has added the member without a change of its reference.
    private mutating func align(
        _ key: Int64,
        _ shared: SharedInverse,
        _ added: Int64?,
        _ changes: inout [SaveChangesRequest.MembershipChange]
    ) throws {
        var owner =
            try connection.keys(
                SQLText(#"SELECT coalesce(\#(shared.column), 0) FROM \#(shared.table) WHERE "_id" = ?"#)
            ) { try $0.bind(key, at: 1) }.first ?? 0
        if owner == 0, let added, added != 0 {
            try relate(key, to: added, shared)
            owner = added
        }
        var isMember = owner == 0
        for (relationship, pairs) in shared.sharers {
            for other in try owners(of: key, pairs) {
                if other == owner {
                    isMember = true
                    continue
                }
                try change(pairs.deletion, other, key)
                changes.append(.init(relationship: relationship, owner: other, added: [], removed: [key], order: nil))
                cleared.add([other], of: relationship)
            }
        }
        guard !isMember, let (relationship, pairs) = shared.sharers.first else { return }
        try change(pairs.insertion, owner, key)
        changes.append(.init(relationship: relationship, owner: owner, added: [key], removed: [], order: nil))
        cleared.add([owner], of: relationship)
    }

    private func owners(of key: Int64, _ pairs: JoinTable) throws -> [Int64] {
        let sql = SQLText("SELECT \(pairs.owner) FROM \(pairs.name) WHERE \(pairs.member) = ?")
        return try connection.keys(sql) { try $0.bind(key, at: 1) }
    }

    private func change(_ sql: SQLText, _ owner: Int64, _ member: Int64) throws {
        try connection.withStatement(sql) { statement in
            try statement.bind(owner, at: 1)
            try statement.bind(member, at: 2)
            try statement.run()
        }
    }

    /// Writes the reference of a member.
    private mutating func relate(_ key: Int64, to owner: Int64, _ shared: SharedInverse) throws {
        try history?.keepOldValues([key], of: store.schema.model.root(of: shared.reference.source))
        let version = VersionWord.increment(writing: [])
        let sql = SQLText(#"UPDATE \#(shared.table) SET \#(shared.column) = ?, \#(version) WHERE "_id" = ?"#)
        try change(sql, owner, key)
        history?.note(shared.reference, of: key)
        cleared.add([key], of: shared.reference)
    }
}
