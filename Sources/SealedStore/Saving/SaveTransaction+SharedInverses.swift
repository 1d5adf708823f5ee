import EncryptedSQLite
import ObjectGraph

extension SaveTransaction {
    /// Makes the relationships that share an inverse consistent with it, for the members that a save has written: a
    /// member is in lists of the object to which the inverse leads, and in no other ones.
    ///
    /// A context and the merge of a change set write the lists and the inverse. Another writer may have moved the member
    /// to another list, which they do not know.
    ///
    /// - Complexity: two statements for each relationship and written member.
    mutating func alignSharedInverses(of request: SaveChangesRequest) throws {
        for inverse in store.schema.model.relationships where !inverse.sharers.isEmpty {
            var members: Set<Int64> = []
            let entities = store.schema.model.entities
            for row in request.inserted where entities[row.entityIndex].isKind(of: inverse.source) {
                if !row.isNull(at: inverse.slot) { members.insert(row.key) }
            }
            for (row, update) in zip(request.updated, request.updates)
            where update.slots.contains(inverse.slot) && entities[row.entityIndex].isKind(of: inverse.source) {
                members.insert(row.key)
            }
            for change in request.memberships where change.relationship.sharedInverse === inverse {
                members.formUnion(change.added)
                members.formUnion(change.removed)
            }
            for member in members.sorted() { try align(inverse, of: member) }
        }
    }

    private mutating func align(_ inverse: Relationship, of member: Int64) throws {
        let column = store.schema.keyColumn(of: inverse).name
        let table = store.schema.table(of: inverse.source).name
        let owners = try connection.keys(SQLText(#"SELECT \#(column) FROM \#(table) WHERE "_id" = ?"#)) {
            try $0.bind(member, at: 1)
        }
        // A deleted member is in no list.
        guard let owner = owners.first else { return }
        var isMember = false
        for relationship in inverse.sharers {
            guard let pairs = store.schema.joinTables[relationship.index] else { continue }
            let all = try connection.keys(
                SQLText("SELECT \(pairs.owner) FROM \(pairs.name) WHERE \(pairs.member) = ? ORDER BY 1")
            ) { try $0.bind(member, at: 1) }
            if owner != 0, all.contains(owner) { isMember = true }
            for other in all where other != owner {
                try change(relationship, of: other, added: [], removed: [member])
            }
        }
        if owner != 0, !isMember, let first = inverse.sharers.first {
            try change(first, of: owner, added: [member], removed: [])
        }
    }

    private mutating func change(
        _ relationship: Relationship,
        of owner: Int64,
        added: [Int64],
        removed: [Int64]
    ) throws {
        let change = SaveChangesRequest.MembershipChange(
            relationship: relationship,
            owner: owner,
            added: added,
            removed: removed,
            order: nil
        )
        try apply([change])
        history?.note(change)
        cleared.add([owner], of: relationship)
    }
}
