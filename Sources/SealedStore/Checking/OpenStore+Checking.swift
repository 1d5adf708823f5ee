import EncryptedSQLite
import ObjectGraph

extension SealedStore {
    /// Reads the whole store and looks for what is wrong with it: damaged pages, indexes that do not fit their tables, and
    /// content that breaks the rules of the model. All of it is seen as it was at one moment; others may write meanwhile. Only the
    /// words of full-text indexes are compared with the texts afterwards, and not in a store that is opened for reading.
    ///
    /// - Returns: every problem; nothing for a store that is sound.
    /// - Throws: `DatabaseError` where the check itself cannot be carried out. Damage is no error here, it is a result.
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
                // What damaged pages hold cannot be told.
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

    /// The full-text indexes that do not fit their texts, as they are now.
    private func mismatchedTexts() throws -> [StoreProblem] {
        var problems: [StoreProblem] = []
        do {
            try database.write { connection in
                let schema = try states.state(on: connection).schema
                problems = try IndexCheck(connection, schema, entityNames: description.entityNames)
                    .mismatchedTexts()
            }
        } catch DatabaseError.damaged where !problems.isEmpty {
            // The transaction in which a mismatch is found cannot be committed, and has nothing to commit.
        }
        return problems
    }

    /// What SQLCipher and SQLite find: the first reads each page of the file and verifies its authentication code, the
    /// second goes through all tables and indexes.
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
