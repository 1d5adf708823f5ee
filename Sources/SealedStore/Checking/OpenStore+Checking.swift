import EncryptedSQLite
import ObjectGraph

extension SealedStore {
    /// Reads the whole store and finds its problems: damaged pages, indexes that differ from their tables, and content
    /// that violates the model. The check reads one state of the file, while others may write. Only the words of
    /// full-text indexes are compared with the texts afterwards, and not in a read-only store.
    ///
    /// - Returns: all problems; empty for a sound store.
    /// - Throws: `DatabaseError` if the check itself fails. Damage is a result, not an error.
    /// - Complexity: O(*n* log *n*) in the number of rows: each page and each row is read a few times.
    package func check() throws -> [StoreProblem] { try opened.check() }
}

extension OpenStore {
    /// Every problem of the store; see ``SealedStore/check()``.
    func check() throws -> [StoreProblem] {
        let entityNames = description.entityNames
        do {
            var problems = try database.read { connection in
                let schema = try states.state(on: connection).schema
                let indexes = IndexCheck(connection, schema, entityNames: entityNames)
                try indexes.refresh()
                let damage = try Self.damage(found: connection)
                // The content of damaged pages is unknown.
                guard damage.isEmpty else { return damage }
                return try ContentCheck(connection, self.schema, entityNames: entityNames).problems()
                    + indexes.problems()
            }
            // A store in memory would be lost with the connection that finds a mismatch.
            if problems.isEmpty, !description.isReadOnly, description.url != nil {
                problems = try mismatchedTexts()
            }
            return problems
        } catch DatabaseError.damaged {
            return [StoreProblem(.damage("a page cannot be read"))]
        }
    }

    /// The full-text indexes that differ from their texts in the latest state.
    private func mismatchedTexts() throws -> [StoreProblem] {
        var problems: [StoreProblem] = []
        do {
            try database.write { connection in
                let schema = try states.state(on: connection).schema
                problems = try IndexCheck(connection, schema, entityNames: description.entityNames)
                    .mismatchedTexts()
            }
        } catch DatabaseError.damaged where !problems.isEmpty {
            // The transaction that finds a mismatch cannot be committed, and has made no changes.
        }
        return problems
    }

    /// The problems that SQLCipher and SQLite report: the former verifies the authentication code of each page of the
    /// file, the latter checks all tables and indexes.
    private static func damage(found connection: Connection) throws -> [StoreProblem] {
        var problems: [StoreProblem] = []
        for pragma in ["cipher_integrity_check", "integrity_check"] {
            try connection.withStatement("PRAGMA \(pragma)") { statement in
                while try statement.step() {
                    let words = statement.string(at: 0)
                    if words != "ok" { problems.append(StoreProblem(.damage(words))) }
                }
            }
            guard problems.isEmpty else { break }
        }
        return problems
    }
}
