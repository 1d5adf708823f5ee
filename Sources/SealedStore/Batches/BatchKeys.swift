import EncryptedSQLite
import ObjectGraph

/// The keys of the rows of a batch request, by root entity, in a temporary table of the writer connection: all
/// statements of the request use the same rows, even if the first statements change which rows match. Temporary tables
/// are in memory, or in an encrypted temporary file while stages of a migration run.
struct BatchKeys {
    private static let table = #"temp."_batch""#

    private let connection: Connection

    /// An empty list.
    init(_ connection: Connection) throws {
        self.connection = connection
        try connection.withStatement(
            #"CREATE TEMP TABLE IF NOT EXISTS "_batch" ("_root" INTEGER, "_id" INTEGER, PRIMARY KEY ("_root", "_id")) "#
                + "STRICT, WITHOUT ROWID"
        ) { try $0.run() }
        try clear()
    }

    /// Removes all keys and releases their memory.
    func clear() throws {
        try connection.withStatement("DELETE FROM \(Self.table)") { try $0.run() }
    }

    /// Adds the results of a SELECT, with an optional WITH clause: numbers of root entities, and keys.
    func insert(_ select: String, prefix: String = "", _ parameters: [Value]) throws {
        try connection.withStatement(
            #"\#(prefix)INSERT OR IGNORE INTO \#(Self.table) ("_root", "_id") \#(select)"#
        ) { statement in
            try statement.bind(parameters)
            try statement.run()
        }
    }

    /// The keys of a root entity as a subquery.
    static func keys(of entity: Entity) -> String {
        #"SELECT "_id" FROM \#(table) WHERE "_root" = \#(entity.rootIndex)"#
    }

    /// The condition that a value is one of the keys of a root entity.
    static func contains(_ value: String, of entity: Entity) -> String {
        #"EXISTS (SELECT 1 FROM \#(table) AS b WHERE b."_root" = \#(entity.rootIndex) AND b."_id" = \#(value))"#
    }

    /// The keys of a root entity, ascending.
    func keys(of entity: Entity) throws -> [Int64] {
        try connection.withStatement(Self.keys(of: entity) + #" ORDER BY "_id""#) {
            try $0.primaryKeys(of: entity, .ascending(after: 0))
        }
    }
}

extension FetchRequest {
    /// The SELECT of the number of the root entity and the key of each object that matches the request.
    func keySelection(_ store: OpenStore, on connection: Connection) throws -> FetchStatement {
        let state = try store.states.state(on: connection)
        return try FetchStatement(
            self,
            columns: #"\#(entity.rootIndex), t0."_id""#,
            isOrdered: false,
            store,
            in: state
        )
    }
}

/// The largest number of problems in an error, if any number of rows may have them.
let batchProblemLimit = 100
