import EncryptedSQLite
import ObjectGraph

extension OpenStore {
    /// Returns the matches of a search, by one statement, and one for the excerpts of each match.
    func matches(_ request: FullTextMatchRequest) throws -> [StoredFullTextMatch] {
        guard let search = request.request.search else { throw FullTextError.noSearch }
        let entity = request.request.entity
        let table = schema.table(of: entity)
        // The matches and their excerpts are read in the same state of the store.
        return try database.read { connection in
            let state = try states.state(on: connection)
            let source = try SearchSource(search, of: entity, state.schema)
            let columns = #"t0."_id", \#(source.relevance)"# + (table.hasEntityColumn ? #", t0."_entity""# : "")
            let statement = try FetchStatement(request.request, columns: columns, self, in: state)
            var matches = try connection.withStatement(statement.sql) { query in
                try query.bind(source.relevanceParameters + statement.parameters)
                var matches: [StoredFullTextMatch] = []
                while try query.step() {
                    let id = try table.id(of: query, entityColumn: 2, storeUUID: uuid)
                    matches.append(StoredFullTextMatch(id: id, relevance: query.real(at: 1)))
                }
                return matches
            }
            guard !request.excerpts.isEmpty else { return matches }
            for position in matches.indices {
                matches[position].excerpts = try readExcerpts(
                    request.excerpts,
                    of: matches[position],
                    source,
                    connection
                )
            }
            return matches
        }
    }

    private func readExcerpts(
        _ excerpts: [FullTextExcerpt],
        of match: StoredFullTextMatch,
        _ source: SearchSource,
        _ connection: Connection
    ) throws -> [String?] {
        guard let (sql, parameters) = try source.excerptStatement(excerpts) else { return excerpts.map { _ in nil } }
        return try connection.withStatement(sql) { query in
            try query.bind(parameters + [.integer(match.id.key)])
            guard try query.step() else { return excerpts.map { _ in nil } }
            return (0..<Int32(excerpts.count)).map { query.isNull(at: $0) ? nil : query.string(at: $0) }
        }
    }
}
