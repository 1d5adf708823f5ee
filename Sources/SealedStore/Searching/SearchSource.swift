import ObjectGraph

/// The part of a fetch's statement that finds rows by a full-text search.
struct SearchSource {
    /// The index that is searched.
    let index: FullTextIndex
    /// The conditions on the index, and the values of its parameters; empty if the index does not serve the search.
    let conditions: [String]
    let parameters: [Value]

    private let residue: QueryExpression?
    private let weights: [Double]

    /// The name of the index in the statement.
    private static let alias = "f"

    /// - Throws: `FullTextError` if no index holds the attributes; ``SealedStoreError/unsupportedQuery(_:)``.
    init(_ search: FullTextSearch, of entity: Entity, _ schema: StoreSchema) throws {
        let names = Set(search.properties).union(search.query.properties).union(search.weights.keys)
        let properties = names.compactMap { entity.propertiesByName[$0] }
        guard properties.count == names.count,
            let index = schema.fullTextIndexes(of: entity).first(where: { index in
                properties.allSatisfy { index.position(of: $0) != nil }
            })
        else { throw FullTextError.noIndex(entity: entity.name, properties: names.sorted()) }
        let columns = index.indexed.columns.indices.filter {
            search.properties.isEmpty || search.properties.contains(index.indexed.columns[$0].property.name)
        }
        let expression = try FullTextExpression(search.query, in: columns, of: index, entity: entity)
        self.index = index
        conditions = expression.match == nil ? [] : ["\(Self.alias).\(index.table) MATCH ?"]
        parameters = expression.match.map { [.text($0)] } ?? []
        let shortWords = expression.shortWords.map { word in
            QueryExpression.or(
                word.columns.map {
                    .function(
                        .localizedContains,
                        [.path(index.indexed.columns[$0].property), .literal(.text(word.text))]
                    )
                }
            )
        }
        residue = shortWords.isEmpty ? nil : .and(shortWords)
        weights =
            search.weights.isEmpty ? [] : index.indexed.columns.map { search.weights[$0.property.name] ?? 1 }
    }

    /// A request's predicate, with the part of the search that the index does not serve.
    func predicate(with predicate: QueryExpression?) -> QueryExpression? {
        guard let residue, let predicate else { return residue ?? predicate }
        return .and([residue, predicate])
    }

    /// The beginning of the FROM clause. The order of the tables is fixed: first the matches of the index, then their
    /// rows.
    func join(to table: String) -> String {
        conditions.isEmpty
            ? table : #"\#(index.table) AS \#(Self.alias) CROSS JOIN \#(table) ON t0."_id" = \#(Self.alias).rowid"#
    }

    /// The order of rows, best first; nil if the index does not serve the search.
    var order: String? { conditions.isEmpty ? nil : "\(relevance) DESC" }

    /// The relevance of a row: larger is better.
    var relevance: String {
        if conditions.isEmpty { return "0" }
        if weights.isEmpty { return "-\(Self.alias).rank" }
        return "-bm25(\(Self.alias).\(index.table), \(SQL.parameters(weights.count)))"
    }

    /// The values of the parameters of ``relevance`` and ``order``.
    var relevanceParameters: [Value] { conditions.isEmpty ? [] : weights.map(Value.real) }

    // MARK: Excerpts

    /// The statement that reads excerpts of the row with a key, its last parameter; nil if the index does not serve the
    /// search.
    func excerptStatement(_ excerpts: [FullTextExcerpt]) throws -> (sql: String, parameters: [Value])? {
        guard !conditions.isEmpty else { return nil }
        var parameters: [Value] = []
        let columns = try excerpts.map { excerpt in
            let property = index.indexed.entity.propertiesByName[excerpt.property]
            guard let position = property.flatMap(index.position) else {
                throw FullTextError.noIndex(entity: index.indexed.entity.name, properties: [excerpt.property])
            }
            let table = "\(Self.alias).\(index.table)"
            parameters += [.text(excerpt.marks.opening), .text(excerpt.marks.closing)]
            guard let length = excerpt.length else { return "highlight(\(table), \(position), ?, ?)" }
            parameters += [.text(excerpt.marks.ellipsis), .integer(Int64(length))]
            return "snippet(\(table), \(position), ?, ?, ?, ?)"
        }
        let sql = """
            SELECT \(columns.joined(separator: ", ")) FROM \(index.table) AS \(Self.alias) \
            WHERE \(conditions.joined(separator: " AND ")) AND \(Self.alias).rowid = ?
            """
        return (sql, parameters + self.parameters)
    }
}
