import EncryptedSQLite
import ObjectGraph

extension SaveTransaction {
    /// Writes the pairs of join tables.
    func apply(_ changes: [SaveChangesRequest.MembershipChange]) throws {
        if changes.isEmpty { return }
        var insertions = PairInsertions(connection)
        for change in changes { try apply(change, &insertions) }
        try insertions.finish()
    }

    private func apply(
        _ change: SaveChangesRequest.MembershipChange,
        _ insertions: inout PairInsertions
    ) throws {
        guard let pairs = store.schema.joinTables[change.relationship.index] else { return }
        if !change.removed.isEmpty {
            // Changes are applied in their order: an earlier change may have added the same pair.
            try insertions.finish()
            try delete(change.removed, of: change.owner, from: pairs)
        }
        try insertions.add(change.added, of: change.owner, to: pairs)
    }

    private func delete(_ members: [Int64], of owner: Int64, from pairs: JoinTable) throws {
        try connection.withStatement(pairs.deletion) { statement in
            for member in members {
                try statement.bind(owner, at: 1)
                try statement.bind(member, at: 2)
                try statement.run()
                // Another writer may have changed the inverse since the context read it.
                guard pairs.isSymmetric else { continue }
                try statement.bind(member, at: 1)
                try statement.bind(owner, at: 2)
                try statement.run()
            }
        }
    }
}

/// Adds pairs to join tables, in blocks as far as there are many.
private struct PairInsertions {
    private let connection: Connection
    /// The table of the pairs that are not written yet.
    private var table: JoinTable?
    /// The keys of these pairs: owner, member, owner, member.
    private var keys: [Int64] = []

    init(_ connection: Connection) {
        self.connection = connection
    }

    mutating func add(_ members: [Int64], of owner: Int64, to pairs: JoinTable) throws {
        if members.isEmpty { return }
        if table?.insertion != pairs.insertion {
            try finish()
            table = pairs
        }
        for member in members {
            keys.append(owner)
            keys.append(member)
            if pairs.isSymmetric {
                keys.append(member)
                keys.append(owner)
            }
        }
        try writeBlocks(of: pairs)
    }

    /// Writes the pairs that fill whole blocks.
    private mutating func writeBlocks(of pairs: JoinTable) throws {
        let keyCount = 2 * JoinTable.blockCount
        guard keys.count >= keyCount else { return }
        var start = 0
        try connection.withStatement(pairs.blockInsertion) { statement in
            while keys.count - start >= keyCount {
                for index in 0..<keyCount { try statement.bind(keys[start + index], at: Int32(index + 1)) }
                try statement.run()
                start += keyCount
            }
        }
        keys.removeSubrange(..<start)
    }

    /// Writes all pairs.
    mutating func finish() throws {
        guard let table, !keys.isEmpty else { return }
        try connection.withStatement(table.insertion) { statement in
            for start in stride(from: 0, to: keys.count, by: 2) {
                try statement.bind(keys[start], at: 1)
                try statement.bind(keys[start + 1], at: 2)
                try statement.run()
            }
        }
        keys = []
    }
}
