import EncryptedSQLite
import ObjectGraph

/// Compares R*Trees and full-text indexes with their tables. SQLite itself compares all other indexes.
struct IndexCheck {
    private let connection: Connection
    private let indexes: [SchemaIndex]

    /// - Parameter entityNames: The names of the entities that the store holds; nil for all.
    init(_ connection: Connection, _ schema: StoreSchema, entityNames: Set<String>?) {
        self.connection = connection
        indexes = schema.indexes.filter { index in
            guard let entity = index.indexed?.entity else { return false }
            return entityNames?.contains(entity.name) ?? true
        }
    }

    /// Makes the connection read the current state of full-text indexes. `PRAGMA integrity_check`, unlike a query, uses
    /// a state that the connection has cached, and would compare it with later changes.
    func refresh() throws {
        for case .fullText(let index) in indexes {
            try connection.withStatement("SELECT rowid FROM \(index.table) WHERE rowid = 0") { _ = try $0.step() }
        }
    }

    /// The missing, wrong and surplus rows of indexes.
    func problems() throws -> [StoreProblem] {
        try indexes.compactMap { index in
            let place = index.place
            switch index {
            case .binary: return nil
            case .rtree(let index): return try problem(at: place, missing(in: index), surplus(in: index))
            case .fullText(let text):
                guard try hasOwnTables(text) else { return index.mismatch }
                return try problem(at: place, missing(in: text), surplus(in: text))
            }
        }
    }

    /// Whether the tables of a full-text index are complete, and contain no settings, which a store never makes. A
    /// setting can name a ranking function that does not exist.
    private func hasOwnTables(_ index: FullTextIndex) throws -> Bool {
        let names = index.shadowTables.map(SQL.literal)
        let tables =
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN (\(names.joined(separator: ", ")))"
        let isComplete = try connection.withStatement(tables) { try $0.step() && $0.integer(at: 0) == names.count }
        guard isComplete else { return false }
        let settings = "SELECT 1 FROM \(index.settings) WHERE k <> 'version'"
        return try connection.withStatement(settings) { try !$0.step() }
    }

    /// The full-text indexes whose words differ from the words of the texts. FTS5 compares them by a statement that
    /// counts as a write, although it changes nothing.
    ///
    /// - Precondition: The connection may write.
    func mismatchedTexts() throws -> [StoreProblem] {
        var problems: [StoreProblem] = []
        for case .fullText(let index) in indexes {
            do {
                try connection.execute(
                    "INSERT INTO \(index.table) (\(index.table), rank) VALUES ('integrity-check', 1)"
                )
            } catch DatabaseError.damagedIndex {
                problems.append(SchemaIndex.fullText(index).mismatch)
            }
        }
        return problems
    }

    /// The R-trees and full-text indexes that cannot be read. If each of them can be read, only some rows cannot, and
    /// all of these indexes are returned.
    func unreadable() throws -> [StoreProblem] {
        var virtual: [SchemaIndex] = []
        var problems: [StoreProblem] = []
        for index in indexes {
            guard let table = index.virtualTable else { continue }
            virtual.append(index)
            let question = index.isFullText ? "rowid FROM \(table) WHERE rowid = 0" : "count(*) FROM \(table)"
            do {
                try connection.withUncachedStatement("SELECT \(question)") { _ = try $0.step() }
            } catch DatabaseError.damagedIndex {
                problems.append(index.mismatch)
            }
        }
        return problems.isEmpty ? virtual.map(\.mismatch) : problems
    }

    // MARK: Statements

    private func missing(in index: CoordinateIndex) -> String {
        let bounds = index.indexed.columns.enumerated().map { dimension, column in
            // The tree rounds integers to doubles first; a large integer may be rounded upwards.
            let value = "CAST(\(index.coordinate(of: column, in: "t0")) AS REAL)"
            // Near zero, floats are too coarse to be rounded outwards.
            return """
                r.\(CoordinateIndex.lowerColumn(dimension)) - 1e-37 <= \(value) \
                AND r.\(CoordinateIndex.upperColumn(dimension)) + 1e-37 >= \(value)
                """
        }
        let exists =
            #"EXISTS (SELECT 1 FROM \#(index.table) AS r WHERE r.id = t0."_id" AND \#(bounds.joined(separator: " AND ")))"#
        let conditions = index.conditions(on: "t0") + ["NOT \(exists)"]
        return #"SELECT t0."_id" AS key FROM \#(index.indexed.table) AS t0\#(conditions.joined(behind: "WHERE"))"#
    }

    private func surplus(in index: CoordinateIndex) -> String {
        let conditions = [#"t0."_id" = r.id"#] + index.conditions(on: "t0")
        return """
            SELECT r.id AS key FROM \(index.table) AS r \
            WHERE NOT EXISTS (SELECT 1 FROM \(index.indexed.table) AS t0\(conditions.joined(behind: "WHERE")))
            """
    }

    private func missing(in index: FullTextIndex) -> String {
        """
        SELECT t0."_id" AS key FROM \(index.view) AS t0 \
        WHERE NOT EXISTS (SELECT 1 FROM \(index.lengths) AS l WHERE l.id = t0."_id")
        """
    }

    private func surplus(in index: FullTextIndex) -> String {
        """
        SELECT l.id AS key FROM \(index.lengths) AS l \
        WHERE NOT EXISTS (SELECT 1 FROM \(index.view) AS t0 WHERE t0."_id" = l.id)
        """
    }

    private func problem(at place: PropertyPlace, _ missing: String, _ surplus: String) throws -> StoreProblem? {
        try connection.withStatement("SELECT count(*), min(key) FROM (\(missing) UNION ALL \(surplus))") { statement in
            guard try statement.step(), statement.integer(at: 0) > 0 else { return nil }
            return StoreProblem(
                .indexMismatch,
                entity: place.entity,
                property: place.property,
                count: Int(statement.integer(at: 0)),
                firstKey: statement.integer(at: 1)
            )
        }
    }
}

extension SchemaIndex {
    /// The rows and columns of the index; nil for an index that SQLite itself checks.
    fileprivate var indexed: IndexedTable? {
        switch self {
        case .binary: nil
        case .rtree(let index): index.indexed
        case .fullText(let index): index.indexed
        }
    }

    /// The entity and the properties of the index; empty for an index that SQLite itself checks.
    var place: PropertyPlace {
        guard let indexed else { return PropertyPlace(entity: "", property: nil) }
        return PropertyPlace(
            entity: indexed.entity.name,
            property: indexed.columns.map(\.property.name).joined(separator: "+")
        )
    }

    /// The problem that the index differs from its table.
    var mismatch: StoreProblem { StoreProblem(.indexMismatch, entity: place.entity, property: place.property) }

    /// Whether the index is for words.
    var isFullText: Bool { if case .fullText = self { true } else { false } }
}
