import EncryptedSQLite
import ObjectGraph

extension OpenStore {
    /// The plan of a fetch.
    func explain(_ request: FetchRequest) throws -> QueryPlan {
        let selection = self.selection(for: request)
        return try database.read { connection in
            let statement = try FetchStatement(
                request,
                columns: selection.columns,
                self,
                in: states.state(on: connection)
            )
            return try QueryPlan(of: statement.sql.text, on: connection)
        }
    }
}

extension QueryPlan {
    /// SQLite's plan of a statement.
    init(of sql: String, on connection: Connection) throws {
        var steps: [Step] = []
        var reading = PlanReading(of: sql, on: try IndexNames(of: connection))
        // The statement is not cached: a plan is read once.
        try connection.withUncachedStatement("EXPLAIN QUERY PLAN " + sql) { query in
            var depths: [Int64: Int] = [:]
            while try query.step() {
                let depth = depths[query.integer(at: 1)].map { $0 + 1 } ?? 0
                depths[query.integer(at: 0)] = depth
                let text = query.string(at: 3)
                steps.append(Step(depth: depth, text: text))
                reading.read(text)
            }
        }
        self.init(
            statement: sql,
            steps: steps,
            indexes: reading.indexes,
            scannedTables: reading.scannedTables
        )
    }
}

/// The names of the indexes of a store, and of the virtual tables that are indexes.
private struct IndexNames {
    /// Longer names come first, so that no name matches a longer name that starts with it.
    let binary: [String]
    /// The partial indexes among them.
    let partial: Set<String>
    let virtual: Set<String>

    init(of connection: Connection) throws {
        binary = try Self.names("type = 'index'", connection).sorted { $0.utf8.count > $1.utf8.count }
        partial = Set(try Self.names("type = 'index' AND sql LIKE '%) WHERE %'", connection))
        virtual = Set(try Self.names("sql LIKE 'CREATE VIRTUAL TABLE%'", connection))
    }

    private static func names(_ condition: String, _ connection: Connection) throws -> [String] {
        try connection.withUncachedStatement("SELECT name FROM sqlite_schema WHERE \(condition)") { statement in
            var names: [String] = []
            while try statement.step() { names.append(statement.string(at: 0)) }
            return names
        }
    }
}

/// The tables and indexes in the steps of a plan.
private struct PlanReading {
    private(set) var indexes: [String] = []
    private(set) var scannedTables: [String] = []
    private let names: IndexNames
    private let tables: AliasedTables

    init(of sql: String, on names: IndexNames) {
        tables = AliasedTables(of: sql)
        self.names = names
    }

    mutating func read(_ step: String) {
        let index = names.binary.first { step.hasSuffix("INDEX \($0)") || step.contains("INDEX \($0) (") }
        if let index { add(index, to: &indexes) }
        guard let source = step.source else { return }
        if step.hasPrefix("SCAN \(source) VIRTUAL TABLE") {
            let name = tables.names[source] ?? source
            if names.virtual.contains(name) { add(name, to: &indexes) }
        } else if step.hasPrefix("SCAN "), !(index.map(names.partial.contains) ?? false) {
            add(tables.names[source] ?? source, to: &scannedTables)
        }
    }

    private func add(_ name: String, to list: inout [String]) {
        if !list.contains(name) { list.append(name) }
    }
}

/// The aliased tables of a statement: each is in quotation marks, before `AS` and the alias.
private struct AliasedTables {
    /// The names by alias.
    private(set) var names: [String: String] = [:]

    init(of sql: String) {
        var rest = Substring(sql).unicodeScalars
        while let start = rest.firstIndex(where: { $0 == "\"" || $0 == "'" }) {
            let mark = rest[start]
            rest = rest[start...].dropFirst()
            var name = String.UnicodeScalarView()
            while let scalar = rest.popFirst() {
                guard scalar == mark else {
                    name.append(scalar)
                    continue
                }
                // A doubled mark is a part of the name.
                guard rest.first == mark else { break }
                name.append(scalar)
                rest.removeFirst()
            }
            guard mark == "\"", rest.starts(with: " AS ".unicodeScalars) else { continue }
            let alias = rest.dropFirst(4).prefix { $0.properties.isAlphabetic || $0.properties.numericType != nil }
            if !alias.isEmpty { names[String(alias)] = String(name) }
        }
    }
}

extension String {
    /// The alias or the name of the table that a step of a plan reads.
    fileprivate var source: String? {
        guard hasPrefix("SCAN ") || hasPrefix("SEARCH ") else { return nil }
        let words = self[firstIndex(of: " ")!...].dropFirst()
        let end = [" USING ", " VIRTUAL TABLE "].compactMap { words.firstRange(of: $0)?.lowerBound }.min()
        let source = String(words[..<(end ?? words.endIndex)])
        // Rows that come from no table.
        return source == "CONSTANT ROW" || source.hasPrefix("(") ? nil : source
    }
}
